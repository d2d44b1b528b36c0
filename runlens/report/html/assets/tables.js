(function(){"use strict";
var D=document,each=window.RunLens.each;
/* the row of a run leads to its details, and opens them */
each('a[href^="#run-"]',function(a){a.addEventListener("click",function(){var d=D.querySelector(a.getAttribute("href")+" details");if(d)d.open=true})});
/* tables whose heads sort: numbers by data-v, or as they are written */
function key(r,i){var c=r.cells[i];return c.dataset.v!==undefined?(c.dataset.v===""?-1/0:+c.dataset.v):c.className==="num"?parseFloat(c.textContent.replace(/,/g,""))||0:c.textContent}
function sortable(tb,rows,done){each("th[data-sort]",function(th){var b=D.createElement("button");b.type="button";b.textContent=th.textContent;th.textContent="";th.appendChild(b);
 b.addEventListener("click",function(){var i=th.cellIndex,dn=th.getAttribute("aria-sort")!=="descending",s=dn?-1:1,f=D.createDocumentFragment();each("th",function(o){o.removeAttribute("aria-sort")},tb);th.setAttribute("aria-sort",dn?"descending":"ascending");
 var now=rows().map(function(r){return[key(r,i),r]}).sort(function(a,c){return a[0]<c[0]?-s:a[0]>c[0]?s:0}).map(function(p){return p[1]});now.forEach(function(r){f.appendChild(r)});tb.tBodies[0].appendChild(f);done(now)})},tb)}
each("table.board",function(tb){sortable(tb,function(){return Array.prototype.slice.call(tb.tBodies[0].rows)},function(){})});
/* audit: search, filter, sort */
var q=D.getElementById("q");if(q){var tabs=[D.getElementById("runs"),D.getElementById("runs-ok")],box=D.getElementById("ok-box"),msg=D.getElementById("shown"),sev="",issue="",timer,picks=Array.prototype.slice.call(D.querySelectorAll("[data-pick]"));
 var fits=function(r){return picks.every(function(p,k){return!p.value||(","+(r.dataset.f||"").split(" ")[k]+",").indexOf(","+p.value+",")>=0})},unpick=function(){picks.forEach(function(p){p.value=""})};
 var sets=tabs.map(function(t){return Array.prototype.slice.call(t.tBodies[0].rows)}),all=sets[0].length+sets[1].length,has=function(r){return(" "+(r.dataset.i||"")+" ").indexOf(" "+issue+" ")>=0};
 var say=function(n){return n.toLocaleString("en-US")},words=function(r){return r._t||(r._t=(r.cells[0].textContent+" "+r.cells[1].textContent+" "+(r.dataset.w||"")).toLowerCase())};
 var keep=function(){var p=[];if(q.value)p.push("q="+encodeURIComponent(q.value));if(sev)p.push("sev="+sev);picks.forEach(function(o){if(o.value)p.push(o.dataset.pick+"="+encodeURIComponent(o.selectedOptions[0].text))});if(issue){var b=D.querySelector('[data-issue="'+issue+'"]');if(b)p=[b.closest("tr").id]}if(ready)history.replaceState(null,"",p.length?"#"+p.join("&"):location.pathname+location.search)},ready=false;
 var apply=function(open){var w=q.value.toLowerCase().split(/\s+/).filter(Boolean),n=[0,0];sets.forEach(function(set,k){set.forEach(function(r){var ok=(!sev||r.dataset.s===sev)&&(!issue||has(r))&&fits(r)&&w.every(function(x){return words(r).indexOf(x)>=0});if(r.hidden===ok)r.hidden=!ok;if(ok)n[k]++})});
  tabs[0].hidden=!n[0];var some=w.length>0||sev||issue||picks.some(function(p){return p.value});if(open)box.open=n[1]>0&&!!some&&(!n[0]||!!issue);keep();msg.textContent=say(n[0]+n[1])+" of "+say(all)+" runs"+(issue?" of this issue":"")+(n[1]&&!box.open?", "+say(n[1])+" without a fault folded":"")};
 var press=function(){each("[data-sev]",function(o){o.setAttribute("aria-pressed",String(!issue&&o.dataset.sev===sev))})};
 q.addEventListener("input",function(){clearTimeout(timer);timer=setTimeout(function(){apply(true)},80)});box.addEventListener("toggle",function(){apply(false)});
 each("[data-sev]",function(b){b.addEventListener("click",function(){sev=b.dataset.sev;issue="";press();apply(true)})});
 each("[data-issue]",function(b){b.addEventListener("click",function(){issue=b.dataset.issue;sev=q.value="";unpick();press();apply(true);D.getElementById("all-runs").scrollIntoView();tabs[0].focus({preventScroll:true})})});
 picks.forEach(function(p){p.addEventListener("change",function(){issue="";press();apply(true)})});
 tabs.forEach(function(tb,k){sortable(tb,function(){return sets[k]},function(rows){sets[k]=rows})});
 var at=function(){var h=location.hash.slice(1),row=h.indexOf("issue=")===0&&D.getElementById(h),b=row&&row.querySelector("[data-issue]");if(b){for(var d=row;d;d=d.parentElement)if(d.tagName==="DETAILS")d.open=true;b.click();row.scrollIntoView()}
  else{var v={};h.split("&").forEach(function(x){var i=x.indexOf("=");if(i>0)v[x.slice(0,i)]=decodeURIComponent(x.slice(i+1))});var any=v.q||v.sev;picks.forEach(function(p){p.value="";Array.prototype.forEach.call(p.options,function(o){if(o.value&&o.text===v[p.dataset.pick]){p.value=o.value;any=1}})});if(any){q.value=v.q||"";sev=v.sev||"";issue="";press();apply(true)}}};
 apply(false);at();ready=true;addEventListener("hashchange",at)}
})();
