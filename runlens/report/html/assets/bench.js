(function () {
"use strict";
/* The workbench of a comparison: curves of chosen runs, and settings against what was reached. */
var D = document, R = window.RunLens, text = D.getElementById("data");
if (!text || !R) return;
var data = JSON.parse(text.textContent), each = R.each, css = R.css, num = R.num;
var night = matchMedia("(prefers-color-scheme: dark)"), lit = -1, views = [];
function at(id) { return D.getElementById(id) }
function redraw() { views.forEach(function (draw) { draw() }) }
/* one run is lifted out everywhere: in the curves, in the settings, in the tables */
function light(run) {
  if (run === lit) return;
  lit = run;
  each("tr[data-row]", function (row) { row.classList.toggle("lit", +row.dataset.row === run) });
  redraw();
}
function lights(element, run) {
  ["pointerenter", "focusin"].forEach(function (name) { element.addEventListener(name, function () { light(run) }) });
  ["pointerleave", "focusout"].forEach(function (name) { element.addEventListener(name, function () { light(-1) }) });
}
function ink(run) {
  if (run < 2) return css(run ? "b" : "a");
  return "hsl(" + (run * 137.5) % 360 + " 55% " + (night.matches ? 68 : 42) + "%)";
}
function most(some) { return some.reduce(function (a, b) { return Math.max(a, b) }, -1 / 0) }
function least(some) { return some.reduce(function (a, b) { return Math.min(a, b) }, 1 / 0) }
/* a canvas as wide as its box, cleared, sharp on every screen */
function fresh(canvas, height) {
  var g = canvas.getContext("2d"), w = canvas.parentNode.clientWidth, r = window.devicePixelRatio || 1;
  canvas.width = w * r; canvas.height = height * r; canvas.style.height = height + "px";
  g.setTransform(r, 0, 0, r, 0, 0); g.clearRect(0, 0, w, height); g.lineWidth = 1;
  g.font = "12px " + getComputedStyle(D.body).fontFamily; g.strokeStyle = css("line"); g.fillStyle = css("mut");
  return { g: g, w: w };
}
function rule(g, x0, y0, x1, y1) { g.beginPath(); g.moveTo(x0, y0); g.lineTo(x1, y1); g.stroke() }
function save(name, blob) {
  var a = D.createElement("a");
  a.href = URL.createObjectURL(blob); a.download = name; a.click();
  setTimeout(function () { URL.revokeObjectURL(a.href) }, 1e3);
}
/* as a cell of CSV, and no formula of a spreadsheet */
function cell(value) { return '"' + (/^[=+\-@\t\r]/.test(value) ? "'" : "") + value.replace(/"/g, '""') + '"' }

function curves(B) {
  var box = at("bench"), canvas = at("bench-canvas"), pick = at("bench-metric"), axis = at("bench-axis");
  var soft = at("bench-smooth"), log = at("bench-log"), all = at("bench-all"), read = at("bench-read"), whole = at("bench-reset");
  var boxes = Array.prototype.slice.call(box.querySelectorAll("[data-run]")), zoom = null, drag = null, map = null, chosen = false;
  B.xs = B.xs.map(function (steps) { var x = 0; return steps.map(function (step) { return x += step }) });
  function metric() { return B.metrics[pick.selectedIndex] }
  function shown() {
    return boxes.map(function (_, run) { return run }).filter(function (run) { return boxes[run].checked && metric().curves[run] });
  }
  /* a place of the common axis on the chosen one, between the places that are known of both */
  function moved(run, x) {
    var known = B.axes[axis.value], k = known && known[run], i = 1;
    if (!k) return x;
    while (i < k[0].length - 1 && k[0][i] < x) i++;
    var wide = k[0][i] - k[0][i - 1];
    return wide ? k[1][i - 1] + (x - k[0][i - 1]) / wide * (k[1][i] - k[1][i - 1]) : k[1][i];
  }
  function curve(run) {
    var c = metric().curves[run], id = axis.value;
    if (c.of !== id) { c.of = id; c.at = B.xs[c.x].map(function (x) { return moved(run, x) }) }
    return c;
  }
  /* running mean with weights that fade, without the pull of its start */
  function smooth(y) {
    var w = +soft.value, sum = 0, weight = 0;
    return y.map(function (v) {
      if (v === null) return null;
      sum = w * sum + (1 - w) * v; weight = w * weight + (1 - w);
      return sum / weight;
    });
  }
  /* the middle 98 % of each run; a run whose top lies ten usual heights beyond the others' is cut */
  function range(some) {
    var ends = some.map(function (ys) {
      var v = ys.filter(function (y) { return y !== null && (!log.checked || y > 0) }).sort(function (a, b) { return a - b }), n = v.length - 1;
      return n < 0 ? null : all.checked ? [v[0], v[n]] : [v[Math.floor(n * .01)], v[Math.ceil(n * .99)]];
    }).filter(Boolean);
    if (!ends.length) return [log.checked ? .1 : 0, 1];
    function middle(of) { return ends.map(of).sort(function (a, b) { return a - b })[(ends.length - 1) >> 1] }
    var tall = 10 * middle(function (e) { return e[1] - e[0] }), top = middle(function (e) { return e[1] }), low = middle(function (e) { return e[0] });
    var hi = most(ends.map(function (e) { return all.checked || !tall || e[1] <= top + tall ? e[1] : top }));
    var lo = least(ends.map(function (e) { return all.checked || !tall || e[0] >= low - tall ? e[0] : low }));
    var pad = hi > lo ? (hi - lo) * .05 : Math.abs(hi) * .05 || .5;
    return log.checked ? [lo / 1.05, hi * 1.05] : [lo - pad, hi + pad];
  }
  function draw() {
    var h = Math.max(240, Math.min(420, box.clientWidth * .42)), f = fresh(canvas, h), g = f.g, w = f.w;
    var L = 58, T = 10, right = w - 12, bottom = h - 34, runs = shown(), some = runs.map(curve), lg = log.checked;
    var xs = [].concat.apply([], some.map(function (c) { return [c.at[0], c.at[c.at.length - 1]] }));
    var x0 = zoom ? zoom[0] : xs.length ? least(xs) : 0, x1 = zoom ? zoom[1] : xs.length ? most(xs) : 1;
    if (x0 === x1) x1 = x0 + 1;
    var reach = range(some.map(function (c) { return c.y.filter(function (_, k) { return c.at[k] >= x0 && c.at[k] <= x1 }) }));
    function scaled(v) { return lg ? Math.log10(v) : v }
    var y0 = scaled(reach[0]), y1 = scaled(reach[1]);
    function X(x) { return L + (x - x0) / (x1 - x0) * (right - L) }
    function Y(v) { return bottom - (scaled(v) - y0) / (y1 - y0) * (bottom - T) }
    map = { x0: x0, x1: x1, L: L, right: right, Y: Y };
    (lg ? R.powers : R.ticks)(y0, y1, 6).forEach(function (v) {
      v = lg ? +Math.pow(10, v).toPrecision(6) : v;
      rule(g, L, Y(v), right, Y(v)); g.textAlign = "right"; g.fillText(num(v), L - 6, Y(v) + 4);
    });
    R.ticks(x0, x1, w < 500 ? 3 : 6).forEach(function (v) {
      var px = X(v);
      g.textAlign = px > right - 24 ? "right" : px < L + 24 ? "left" : "center"; g.fillText(num(v), px, h - 17);
    });
    g.textAlign = "right"; g.fillText(axis.options[axis.selectedIndex].textContent, right, h - 3);
    g.save(); g.beginPath(); g.rect(L, 0, right - L, bottom + 1); g.clip();
    function line(c, y, width, alpha) {
      var open = false;
      g.globalAlpha = alpha; g.lineWidth = width; g.beginPath();
      c.at.forEach(function (x, k) {
        var v = y[k];
        if (v === null || lg && v <= 0) { open = false; return }
        if (open) g.lineTo(X(x), Y(v)); else g.moveTo(X(x), Y(v));
        open = true;
      });
      g.stroke();
    }
    var order = runs.filter(function (run) { return run !== lit }).concat(runs.indexOf(lit) < 0 ? [] : [lit]);
    /* the middle half of a group of runs, behind its mean */
    (metric().bands || []).forEach(function (b, run) {
      if (!b || runs.indexOf(run) < 0) return;
      var at = b[0].map(function (x) { return X(moved(run, x)) }), n = at.length;
      if (lg && least(b[1]) <= 0) return;
      g.beginPath();
      for (var k = 0; k < n; k++) g.lineTo(at[k], Y(b[2][k]));
      for (k = n; k--;) g.lineTo(at[k], Y(b[1][k]));
      g.globalAlpha = lit >= 0 && lit !== run ? .04 : .16; g.fillStyle = ink(run); g.fill();
    });
    order.forEach(function (run) {
      var c = curve(run), dim = lit >= 0 && lit !== run;
      g.strokeStyle = ink(run);
      if (+soft.value) line(c, c.y, 1, dim ? .04 : runs.length > 6 ? .12 : .25);
      line(c, +soft.value ? smooth(c.y) : c.y, lit === run ? 3 : 1.6, dim ? .18 : 1);
    });
    if (drag) { g.globalAlpha = .12; g.fillStyle = css("ink"); g.fillRect(Math.min(drag[0], drag[1]), T, Math.abs(drag[1] - drag[0]), bottom - T) }
    g.restore(); g.globalAlpha = 1; whole.hidden = !zoom;
  }
  /* the view stands in the address; the first view leaves it as it is */
  function keep() {
    var off = boxes.map(function (b, run) { return b.checked ? "" : B.labels[run] }).join(""), p = ["metric=" + encodeURIComponent(metric().name)];
    if (axis.selectedIndex) p.push("axis=" + axis.value);
    p.push("smooth=" + soft.value);
    if (log.checked) p.push("log=1");
    if (all.checked) p.push("all=1");
    if (off) p.push("off=" + off);
    if (zoom) p.push("from=" + zoom[0] + "&to=" + zoom[1]);
    try { history.replaceState(null, "", "#bench&" + p.join("&")) } catch (e) { /* a frame without an address */ }
  }
  function load() {
    var v = {};
    if (location.hash.indexOf("#bench&") !== 0) return;
    location.hash.slice(7).split("&").forEach(function (part) { var i = part.indexOf("="); v[part.slice(0, i)] = decodeURIComponent(part.slice(i + 1)) });
    B.metrics.forEach(function (m, i) { if (m.name === v.metric) pick.selectedIndex = i });
    axis.value = B.axes[v.axis] ? v.axis : axis.options[0].value;
    if (+v.smooth >= 0 && +v.smooth < 1) { soft.value = v.smooth; chosen = true }
    log.checked = !!v.log; all.checked = !!v.all;
    boxes.forEach(function (b, run) { b.checked = (v.off || "").indexOf(B.labels[run]) < 0 });
    zoom = +v.to > +v.from ? [+v.from, +v.to] : null;
  }
  function place(px) { return map.x0 + (px - map.L) / (map.right - map.L) * (map.x1 - map.x0) }
  /* read every run at one place; the line next to the pointer is lifted out */
  function say(px, py) {
    var x = place(px), near = -1, gap = 14, said = shown().map(function (run) {
      var c = curve(run), lo = 0, hi = c.at.length - 1, m;
      while (hi - lo > 1) { m = (lo + hi) >> 1; if (c.at[m] <= x) lo = m; else hi = m }
      var k = x - c.at[lo] < c.at[hi] - x ? lo : hi, v = c.y[k], d = v === null ? 1 / 0 : Math.abs(map.Y(+soft.value ? smooth(c.y)[k] : v) - py);
      if (d < gap) { gap = d; near = run }
      return B.labels[run] + " " + (v === null ? "NaN" : num(v));
    });
    read.textContent = (near < 0 ? "" : B.labels[near] + " " + B.runs[near] + " · ") + axis.options[axis.selectedIndex].textContent + " " + num(x) + ": " +
      said.slice(0, 8).join(", ") + (said.length > 8 ? " and " + (said.length - 8) + " more" : "");
    light(near);
  }
  function again() { draw(); keep() }
  [pick, axis, soft, log, all].concat(boxes).forEach(function (e) {
    e.addEventListener("input", function () {
      if (e === pick || e === axis) zoom = null;
      if (e === soft) chosen = true;
      if (!chosen) soft.value = metric().smooth;
      again();
    });
  });
  boxes.forEach(function (b, run) { lights(b.parentNode, run) });
  ["all", "none"].forEach(function (which) {
    at("bench-" + which + "-runs").addEventListener("click", function () { boxes.forEach(function (b) { b.checked = which === "all" }); again() });
  });
  canvas.addEventListener("pointerdown", function (e) { drag = [e.offsetX, e.offsetX]; canvas.setPointerCapture(e.pointerId) });
  canvas.addEventListener("pointermove", function (e) { if (drag) { drag[1] = e.offsetX; draw() } say(e.offsetX, e.offsetY) });
  canvas.addEventListener("pointerleave", function () { light(-1) });
  canvas.addEventListener("pointerup", function () {
    var d = drag;
    drag = null;
    if (d && Math.abs(d[1] - d[0]) > 8) zoom = [place(Math.min(d[0], d[1])), place(Math.max(d[0], d[1]))];
    again();
  });
  canvas.addEventListener("pointercancel", function () { drag = null; draw() });
  whole.addEventListener("click", function () { zoom = null; again() });
  at("bench-csv").addEventListener("click", function () {
    var t = "run," + axis.value + ",value\n";
    shown().forEach(function (run) {
      var c = curve(run);
      c.at.forEach(function (x, k) { t += cell(B.labels[run] + " " + B.runs[run]) + "," + x + "," + (c.y[k] === null ? "NaN" : c.y[k]) + "\n" });
    });
    save("curves.csv", new Blob([t], { type: "text/csv" }));
  });
  at("bench-png").addEventListener("click", function () { canvas.toBlob(function (b) { if (b) save("curves.png", b) }) });
  function paint() { boxes.forEach(function (b, run) { b.parentNode.querySelector("i").style.background = ink(run) }) }
  night.addEventListener("change", paint);
  addEventListener("hashchange", function () { load(); draw() });
  paint(); soft.value = metric().smooth; load(); views.push(draw);
}

/* settings against what was reached: one setting as points, all of them as lines */
function board(S) {
  var points = at("board-points"), lines = at("board-lines"), pick = at("board-key"), spots = [], ways = [];
  var values = S.rows.map(function (row) { return row[1] }).filter(function (v) { return v !== null }), worst = S.better === "lower" ? most(values) : least(values);
  /* where each value of a setting lies, from 0 to 1: numbers by their size, words side by side */
  function scale(some) {
    var there = some.filter(function (v) { return v !== null });
    if (there.every(function (v) { return typeof v === "number" })) {
      var lo = least(there), hi = most(there), lg = lo > 0 && hi >= 3 * lo, f = function (v) { return lg ? Math.log10(v) : v }, a = f(lo), z = f(hi);
      var marks = (lg ? R.powers : R.ticks)(a, z, 4).map(function (v) { return [(v - a) / (z - a || 1), num(lg ? +Math.pow(10, v).toPrecision(6) : v)] });
      return { at: function (v) { return (f(v) - a) / (z - a || 1) }, marks: marks.length ? marks : [[0, num(lo)], [1, num(hi)]] };
    }
    var words = there.map(String).filter(function (v, i, l) { return l.indexOf(v) === i }).sort();
    function spot(v) { return words.length > 1 ? words.indexOf(String(v)) / (words.length - 1) : .5 }
    return { at: spot, marks: words.slice(0, 12).map(function (v) { return [spot(v), v.slice(0, 14)] }) };
  }
  function column(i) { return S.rows.map(function (row) { return row[2][i] }) }
  /* runs that have curves keep their colours; of others the best are blue, the worst orange */
  function colour(row) { return data.bench ? ink(row[0]) : row[1] === null ? css("mut") : "hsl(" + (30 + 180 * Math.min(1, Math.abs(row[1] - worst) / (most(values) - least(values) || 1))) + " 65% " + (night.matches ? 62 : 42) + "%)" }
  function scatter() {
    var f = fresh(points, 280), g = f.g, L = 58, T = 12, right = f.w - 14, bottom = 238, i = pick.selectedIndex, x = scale(column(i)), y = scale(values);
    function X(v) { return L + 8 + x.at(v) * (right - L - 16) }
    function Y(v) { return bottom - 8 - y.at(v) * (bottom - T - 16) }
    g.textAlign = "right";
    y.marks.forEach(function (m) { var py = bottom - 8 - m[0] * (bottom - T - 16); rule(g, L, py, right, py); g.fillText(m[1], L - 6, py + 4) });
    g.textAlign = "center";
    x.marks.forEach(function (m) { g.fillText(m[1], L + 8 + m[0] * (right - L - 16), bottom + 16) });
    g.textAlign = "right"; g.fillText(S.keys[i], right, bottom + 34); g.textAlign = "left"; g.fillText(S.metric, 0, bottom + 34);
    spots = [];
    S.rows.forEach(function (row) {
      if (row[1] === null || row[2][i] === null) return;
      var px = X(row[2][i]), py = Y(row[1]), up = lit === row[0];
      spots.push([px, py, row[0]]);
      g.globalAlpha = lit < 0 || up ? .85 : .2; g.fillStyle = colour(row); g.beginPath(); g.arc(px, py, up ? 6 : 4, 0, 7); g.fill();
    });
    g.globalAlpha = 1;
  }
  function parallel() {
    var keys = S.keys.slice(0, Math.max(2, Math.min(7, Math.floor(lines.parentNode.clientWidth / 105)))), f = fresh(lines, 280), g = f.g, T = 34, bottom = 262, n = keys.length, left = 36, right = f.w - 40;
    var scales = keys.map(function (_, i) { return scale(column(i)) }).concat([scale(values)]);
    function X(i) { return left + i / n * (right - left) }
    function Y(i, v) { return v === null ? null : bottom - scales[i].at(v) * (bottom - T) }
    ways = [];
    S.rows.slice().reverse().forEach(function (row) {
      if (row[1] === null) return;
      var way = keys.map(function (_, i) { return Y(i, row[2][i]) }).concat([Y(n, row[1])]), open = false, up = lit === row[0];
      ways.push([way, row[0]]);
      g.strokeStyle = colour(row); g.globalAlpha = up ? 1 : lit >= 0 ? .08 : S.rows.length > 60 ? .3 : .6; g.lineWidth = up ? 3 : 1.2; g.beginPath();
      way.forEach(function (py, i) { if (py === null) { open = false; return } if (open) g.lineTo(X(i), py); else g.moveTo(X(i), py); open = true });
      g.stroke();
    });
    g.globalAlpha = 1; g.lineWidth = 1; g.strokeStyle = css("mut");
    keys.concat([S.metric]).forEach(function (key, i) {
      var room = (right - left) / n - 6;
      rule(g, X(i), T, X(i), bottom);
      g.textAlign = i === n ? "right" : i ? "center" : "left"; g.fillStyle = css("ink");
      var name = key; while (name.length > 4 && g.measureText(name).width > room) name = name.slice(0, -2) + "…";
      g.fillText(name, i === n ? f.w : i ? X(i) : 0, 14);
      g.textAlign = "left"; g.fillStyle = css("mut");
      scales[i].marks.forEach(function (m) { g.fillText(m[1].slice(0, 8), X(i) + 4, bottom - m[0] * (bottom - T) + 4) });
    });
    map = { X: X, n: n };
  }
  var map = null;
  points.addEventListener("pointermove", function (e) {
    var best = -1, gap = 12;
    spots.forEach(function (s) { var d = Math.hypot(s[0] - e.offsetX, s[1] - e.offsetY); if (d < gap) { gap = d; best = s[2] } });
    light(best); tell(best);
  });
  lines.addEventListener("pointermove", function (e) {
    var best = -1, gap = 10;
    ways.forEach(function (way) {
      for (var i = 0; i < map.n; i++) {
        var a = map.X(i), z = map.X(i + 1), p = way[0][i], q = way[0][i + 1];
        if (e.offsetX < a || e.offsetX > z || p === null || q === null) continue;
        var d = Math.abs(p + (e.offsetX - a) / (z - a) * (q - p) - e.offsetY);
        if (d < gap) { gap = d; best = way[1] }
      }
    });
    light(best); tell(best);
  });
  function tell(run) {
    var row = S.rows.filter(function (r) { return r[0] === run })[0];
    at("board-read").textContent = row ? row[3] + ": " + S.metric + " " + (row[1] === null ? "unknown" : num(row[1])) + "; " +
      S.keys.slice(0, 6).map(function (k, i) { return k + " " + (row[2][i] === null ? "not set" : row[2][i]) }).join(", ") : S.help;
  }
  [points, lines].forEach(function (c) { c.addEventListener("pointerleave", function () { light(-1); tell(-1) }) });
  pick.addEventListener("input", scatter);
  tell(-1); views.push(scatter, parallel);
}

if (data.bench) curves(data.bench);
if (data.board && at("board-views")) board(data.board);
each("tr[data-row]", function (row) { lights(row, +row.dataset.row) });
night.addEventListener("change", redraw);
addEventListener("resize", redraw);
redraw();
})();
