(function(){"use strict";
/* the workbench of a comparison: one metric of all runs on a canvas, drawn anew on each change */
var D=document,at=function(id){return D.getElementById(id)},box=at("bench"),dat=at("data");
if(!box||!dat)return;
var B=JSON.parse(dat.textContent).bench;if(!B)return;
box.hidden=false;
var cv=at("bench-canvas"),g=cv.getContext("2d"),pick=at("bench-metric"),soft=at("bench-smooth"),log=at("bench-log"),all=at("bench-all"),read=at("bench-read"),out=at("bench-reset");
var boxes=Array.prototype.slice.call(box.querySelectorAll("[data-run]")),lit=-1,zoom=null,drag=null,map=null;
function css(n){return getComputedStyle(D.documentElement).getPropertyValue("--"+n).trim()}
function ink(i){return i===0?css("a"):i===1?css("b"):"hsl("+(i*137.5%360)+" 55% "+(matchMedia("(prefers-color-scheme: dark)").matches?68:42)+"%)"}
function num(v){var a=Math.abs(v);return(a!==0&&(a<1e-3||a>=1e6)?v.toExponential(2):String(+v.toPrecision(4))).replace("-","\u2212")}
function smooth(y){var w=+soft.value,s=0,n=0;if(!w)return y;return y.map(function(v){if(v===null)return null;s=w*s+(1-w)*v;n=w*n+(1-w);return s/n})}
function shown(){return boxes.map(function(b,i){return b.checked?i:-1}).filter(function(i){return i>=0&&metric().curves[i]})}
function metric(){return B.metrics[pick.selectedIndex]}
function curve(i){var c=metric().curves[i];return{x:B.xs[c.x],y:c.y}}
/* the middle 98 % of the values and a tenth beyond: one explosion does not flatten the others */
function range(ys){var v=ys.filter(function(y){return y!==null&&(!log.checked||y>0)}).sort(function(a,b){return a-b}),n=v.length;if(!n)return[0,1];
 var lo=all.checked?v[0]:v[Math.floor(n*.01)],hi=all.checked?v[n-1]:v[Math.floor(n*.99)];if(lo===hi){lo-=Math.abs(lo)*.05||.5;if(log.checked&&lo<=0)lo=hi/2;hi+=Math.abs(hi)*.05||.5}
 if(log.checked)return[lo/1.05,hi*1.05];var p=(hi-lo)*.06;return[lo-p,hi+p]}
/* round places of an axis, about as many as asked for */
function ticks(a,z,n){var raw=(z-a)/n,p=Math.pow(10,Math.floor(Math.log10(raw))),m=[1,2,5,10].filter(function(k){return k*p>=raw*.999})[0]*p,t=[],v=Math.ceil(a/m-1e-9)*m;for(;v<=z+m*1e-9&&t.length<20;v+=m)t.push(Math.abs(v)<m*1e-6?0:+v.toPrecision(12));return t}
function draw(){var w=box.clientWidth,h=Math.max(240,Math.min(420,w*.42)),r=window.devicePixelRatio||1,L=58,R=w-12,T=10,H=h-34,on=shown(),xs=[],ys=[];
 cv.width=w*r;cv.height=h*r;cv.style.height=h+"px";g.setTransform(r,0,0,r,0,0);g.clearRect(0,0,w,h);g.font="12px system-ui,sans-serif";
 on.forEach(function(i){var c=curve(i);xs.push(c.x[0],c.x[c.x.length-1])});
 var x0=zoom?zoom[0]:Math.min.apply(0,xs),x1=zoom?zoom[1]:Math.max.apply(0,xs);if(!on.length){x0=0;x1=1}if(x0===x1)x1=x0+1;
 on.forEach(function(i){var c=curve(i);c.x.forEach(function(x,k){if(x>=x0&&x<=x1)ys.push(c.y[k])})});
 var q=range(ys),lg=log.checked,f=function(v){return lg?Math.log10(v):v},y0=f(q[0]),y1=f(q[1]);
 var X=function(x){return L+(x-x0)/(x1-x0)*(R-L)},Y=function(v){return H-(f(v)-y0)/(y1-y0)*(H-T)};map={x0:x0,x1:x1,L:L,R:R};
 g.strokeStyle=css("line");g.fillStyle=css("mut");g.lineWidth=1;
 ticks(y0,y1,5).forEach(function(v){var py=H-(v-y0)/(y1-y0)*(H-T);g.beginPath();g.moveTo(L,py);g.lineTo(R,py);g.stroke();g.textAlign="right";g.fillText(num(lg?Math.pow(10,v):v),L-6,py+4)});
 ticks(x0,x1,w<500?3:6).forEach(function(v){var px=X(v);g.textAlign=px>R-24?"right":px<L+24?"left":"center";g.fillText(num(v),px,h-17)});
 g.textAlign="right";g.fillText(B.axis,R,h-3);
 g.save();g.beginPath();g.rect(L,0,R-L,H+1);g.clip();
 var path=function(c,y,width,alpha,col){g.globalAlpha=alpha;g.lineWidth=width;g.strokeStyle=col;g.beginPath();var open=false;c.x.forEach(function(x,k){var v=y[k];if(v===null||lg&&v<=0){open=false;return}if(open)g.lineTo(X(x),Y(v));else g.moveTo(X(x),Y(v));open=true});g.stroke()};
 on.forEach(function(i){var c=curve(i),dim=lit>=0&&lit!==i,col=ink(i);if(+soft.value)path(c,c.y,1,dim?.05:.22,col);path(c,smooth(c.y),lit===i?3:1.6,dim?.18:1,col)});
 if(drag){g.globalAlpha=.12;g.fillStyle=css("ink");g.fillRect(Math.min(drag[0],drag[1]),T,Math.abs(drag[1]-drag[0]),H-T)}
 g.restore();g.globalAlpha=1;out.hidden=!zoom}
function keep(){var off=boxes.map(function(b,i){return b.checked?"":B.runs[i].slice(0,1)}).join(""),p=["metric="+encodeURIComponent(metric().name)];if(+soft.value)p.push("smooth="+soft.value);if(log.checked)p.push("log=1");if(all.checked)p.push("all=1");if(off)p.push("off="+off);
 try{history.replaceState(null,"","#bench&"+p.join("&"))}catch(e){}}
function again(){draw();keep()}
function load(){var h=location.hash;if(h.indexOf("#bench&")!==0)return;h.slice(7).split("&").forEach(function(part){var k=part.split("=")[0],v=decodeURIComponent(part.split("=")[1]||"");
  if(k==="metric")B.metrics.forEach(function(m,i){if(m.name===v)pick.selectedIndex=i});if(k==="smooth"&&+v>=0&&+v<1)soft.value=v;if(k==="log")log.checked=true;if(k==="all")all.checked=true;
  if(k==="off")boxes.forEach(function(b,i){b.checked=v.indexOf(B.runs[i].slice(0,1))<0})})}
function say(px){var x=map.x0+(px-map.L)/(map.R-map.L)*(map.x1-map.x0),t=shown().map(function(i){var c=curve(i),b=0;c.x.forEach(function(v,k){if(Math.abs(v-x)<Math.abs(c.x[b]-x))b=k});return B.runs[i].slice(0,1)+" "+(c.y[b]===null?"NaN":num(c.y[b]))});
 read.textContent=B.axis+" "+num(x)+": "+t.slice(0,8).join(", ")+(t.length>8?" and "+(t.length-8)+" more":"")}
function save(name,blob){var a=D.createElement("a");a.href=URL.createObjectURL(blob);a.download=name;a.click();setTimeout(function(){URL.revokeObjectURL(a.href)},1e3)}
function cell(t){t=/^[=+\-@\t\r]/.test(t)?"'"+t:t;return'"'+t.replace(/"/g,'""')+'"'}
[pick,soft,log,all].concat(boxes).forEach(function(e){e.addEventListener("input",function(){if(e===pick)zoom=null;again()})});
boxes.forEach(function(b,i){var l=b.parentNode;l.querySelector("i").style.background=ink(i);["pointerenter","focusin"].forEach(function(n){l.addEventListener(n,function(){lit=i;draw()})});["pointerleave","focusout"].forEach(function(n){l.addEventListener(n,function(){lit=-1;draw()})})});
Array.prototype.forEach.call(D.querySelectorAll('#runs tbody tr'),function(r){var a=r.querySelector('a[href^="#run-"]'),i=a?B.runs.map(function(n){return n.slice(0,1)}).indexOf(a.getAttribute("href").slice(5)):-1;if(i<0)return;r.addEventListener("pointerenter",function(){lit=i;draw()});r.addEventListener("pointerleave",function(){lit=-1;draw()})});
cv.addEventListener("pointerdown",function(e){drag=[e.offsetX,e.offsetX];cv.setPointerCapture(e.pointerId)});
cv.addEventListener("pointermove",function(e){if(drag){drag[1]=e.offsetX;draw()}say(e.offsetX)});
cv.addEventListener("pointerup",function(){var d=drag;drag=null;if(d&&Math.abs(d[1]-d[0])>8){var to=function(p){return map.x0+(p-map.L)/(map.R-map.L)*(map.x1-map.x0)};zoom=[to(Math.min(d[0],d[1])),to(Math.max(d[0],d[1]))]}draw()});
cv.addEventListener("pointercancel",function(){drag=null;draw()});
out.addEventListener("click",function(){zoom=null;draw()});
at("bench-csv").addEventListener("click",function(){var t="run,"+B.axis+",value\n";shown().forEach(function(i){var c=curve(i);c.x.forEach(function(x,k){t+=cell(B.runs[i])+","+x+","+(c.y[k]===null?"NaN":c.y[k])+"\n"})});save("curves.csv",new Blob([t],{type:"text/csv"}))});
at("bench-png").addEventListener("click",function(){cv.toBlob(function(b){if(b)save("curves.png",b)})});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change",function(){boxes.forEach(function(b,i){b.parentNode.querySelector("i").style.background=ink(i)});draw()});
addEventListener("resize",draw);load();draw();
})();
