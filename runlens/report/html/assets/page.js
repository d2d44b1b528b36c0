(function(){"use strict";
var D=document,root=D.documentElement,dat=D.getElementById("data"),data=dat?JSON.parse(dat.textContent):{};
function each(q,f,r){Array.prototype.forEach.call((r||D).querySelectorAll(q),f)}
root.classList.add("on");each(".js",function(x){x.hidden=false});
function tidy(t){return t.replace("e+","e").replace("-","\u2212").replace("e\u2212","e-")}
function stp(v){return Math.abs(v)<1e15?tidy((Math.round(v*10)/10).toLocaleString("en-US")):String(v)}
function num(v){var a=Math.abs(v);if(a!==0&&(a<1e-3||a>=1e7))return tidy(String(+v.toPrecision(4)).indexOf("e")<0?v.toExponential(3).replace(/\.?0+e/,"e"):String(+v.toPrecision(4)));return tidy(a>=1000?Math.round(v).toLocaleString("en-US"):String(+v.toPrecision(4)))}
(data.series||[]).forEach(function(s){s.x=data.xs[s.x];s.say=function(i){return s.y[i]===null?(s.odd&&s.odd[i])||"NaN":num(s.y[i])}});
if(data.xs)data.steps=data.xs[data.steps];
var axis=data.axis||"step";if(axis!=="step")stp=num;
/* copy buttons */
each("[data-copy]",function(b){b.addEventListener("click",function(){
 var t=D.getElementById(b.dataset.copy).dataset.text||D.getElementById(b.dataset.copy).textContent,done=function(ok){b.textContent=ok?"Copied":"Press Ctrl+C";setTimeout(function(){b.textContent="Copy"},1600)};
 function old(){var s=getSelection(),r=D.createRange();r.selectNodeContents(D.getElementById(b.dataset.copy));s.removeAllRanges();s.addRange(r);var ok=false;try{ok=D.execCommand("copy")}catch(e){}done(ok)}
 if(navigator.clipboard&&isSecureContext)navigator.clipboard.writeText(t).then(function(){done(true)},old);else old()})});
/* crosshair: pointer and arrow keys read every series at one step */
each("[data-cross]",function(box){var out=D.getElementById(box.dataset.cross),S=data.series||[],steps=data.steps||[],k=steps.length-1;
 function at(s,x){var a=s.x,lo=0,hi=a.length-1;if(hi<0)return null;while(lo<hi){var m=(lo+hi+1)>>1;if(a[m]<=x)lo=m;else hi=m-1}return a[lo]<=x?lo:null}
 function show(step){out.textContent="";var b=D.createElement("b");b.textContent=axis+" "+stp(step);out.appendChild(b);
  S.forEach(function(s){var i=at(s,step),e=D.createElement("span");e.textContent=s.name+" ";var v=D.createElement("b");v.textContent=i===null?"–":s.say(i);e.appendChild(v);if(i!==null&&s.x[i]!==step)e.appendChild(D.createTextNode(" at "+stp(s.x[i])));out.appendChild(e)});
  each("svg.ch",function(g){var x0=+g.dataset.l,x1=+g.dataset.r,a=+g.dataset.a,z=+g.dataset.z;if(isNaN(x0))return;var x=x0+(step-a)/(z-a)*(x1-x0);each(".xh",function(l){l.setAttribute("x1",x);l.setAttribute("x2",x);l.classList.add("go")},g)},box)}
 box.addEventListener("pointermove",function(ev){var g=ev.target.closest("svg.ch");if(!g||isNaN(+g.dataset.l))return;var r=g.getBoundingClientRect(),w=g.viewBox.baseVal.width,px=(ev.clientX-r.left)/r.width*w,st=+g.dataset.a+(px-g.dataset.l)/(g.dataset.r-g.dataset.l)*(g.dataset.z-g.dataset.a),best=0,bd=1/0;
  for(var i=0;i<steps.length;i++){var d=Math.abs(steps[i]-st);if(d<bd){bd=d;best=i}}k=best;show(steps[k])});
 box.addEventListener("keydown",function(ev){var j={ArrowLeft:-1,ArrowRight:1,PageUp:-10,PageDown:10}[ev.key];if(ev.key==="Home")k=0;else if(ev.key==="End")k=steps.length-1;else if(j)k=Math.max(0,Math.min(steps.length-1,k+j));else return;ev.preventDefault();show(steps[k])})});
/* the row of a run leads to its details, and opens them */
each('a[href^="#run-"]',function(a){a.addEventListener("click",function(){var d=D.querySelector(a.getAttribute("href")+" details");if(d)d.open=true})});
/* plotly: unpacked only when asked for; its exact text is allowed by hash in the policy */
each("[data-plotly]",function(b){var z=D.getElementById("plotly-gz");if(!z||!window.DecompressionStream){b.hidden=true;return}
 b.addEventListener("click",function(){b.disabled=true;b.textContent="Unpacking…";
  var bin=atob(z.textContent.trim()),u=new Uint8Array(bin.length);for(var i=0;i<bin.length;i++)u[i]=bin.charCodeAt(i);
  new Response(new Blob([u]).stream().pipeThrough(new DecompressionStream("gzip"))).text().then(function(t){var s=D.createElement("script");s.textContent=t;D.head.appendChild(s);
   if(!window.Plotly)throw new Error("blocked");b.hidden=true;draw(D.getElementById(b.dataset.plotly))}).catch(function(){b.textContent="Not available in this browser";})})});
function css(n){return getComputedStyle(root).getPropertyValue("--"+n).trim()}
function draw(el){var P=data.panels,n=P.length,tot=0,acc=0,L={showlegend:false,paper_bgcolor:"rgba(0,0,0,0)",plot_bgcolor:"rgba(0,0,0,0)",font:{family:getComputedStyle(D.body).fontFamily,size:12,color:css("mut")},margin:{l:80,r:16,t:8,b:40},hovermode:"x unified",hoverlabel:{bgcolor:css("bg"),bordercolor:css("line"),font:{color:css("ink"),size:12}},modebar:{bgcolor:"rgba(0,0,0,0)",color:css("mut"),activecolor:css("ink")},height:Math.max(620,P.reduce(function(t,p){return t+p.h},0)*1.3+80),dragmode:"zoom",shapes:[]},T=[];
 P.forEach(function(p){tot+=p.h});
 P.forEach(function(p,i){var gap=.045,top=1-acc/tot,bot=1-(acc+p.h)/tot+(i<n-1?gap:0);acc+=p.h;var sfx=i?String(i+1):"",y="yaxis"+sfx;
  L[y]={domain:[Math.max(0,bot),top],title:{text:p.title,font:{size:12}},type:p.log?"log":"linear",gridcolor:css("line"),zeroline:false,fixedrange:false,exponentformat:"e"};if(p.log)L[y].dtick=Math.max(1,Math.ceil(p.log/6));else L[y].nticks=Math.max(3,Math.round(p.h/30));
  p.series.forEach(function(si){var s=data.series[si];T.push({x:s.x,y:s.y,name:s.name,mode:s.x.length<60?"lines+markers":"lines",line:{color:css(s.c),width:1.6},marker:{size:5},xaxis:"x",yaxis:"y"+sfx})});
  (p.refs||[]).forEach(function(v){L.shapes.push({type:"line",xref:"paper",x0:0,x1:1,yref:"y"+sfx,y0:v,y1:v,line:{color:css("ink"),width:1,dash:"dash"}})})});
 L.xaxis={anchor:n>1?"y"+n:"y",title:{text:axis==="step"?"optimizer step":axis},gridcolor:css("line"),zeroline:false,showspikes:true,spikemode:"across",spikethickness:1,spikedash:"solid",spikecolor:css("mut")};
 (data.onsets||[]).forEach(function(o){L.shapes.push({type:"line",x0:o.x,x1:o.x,yref:"paper",y0:0,y1:1,line:{color:css(o.c),width:1.25,dash:"dot"}})});
 each("svg.ch",function(s){s.remove()},el);var rd=D.getElementById(el.dataset.cross);if(rd)rd.hidden=true;el.removeAttribute("tabindex");
 Plotly.newPlot(el,T,L,{responsive:true,displaylogo:false,modeBarButtons:[["zoom2d","pan2d","zoomIn2d","zoomOut2d","resetScale2d"]]});
 matchMedia("(prefers-color-scheme: dark)").addEventListener("change",function(){Plotly.relayout(el,{"font.color":css("mut")})})}
/* audit: search, filter, sort */
var q=D.getElementById("q");if(q){var tabs=[D.getElementById("runs"),D.getElementById("runs-ok")],box=D.getElementById("ok-box"),msg=D.getElementById("shown"),sev="",issue="",timer;
 var sets=tabs.map(function(t){return Array.prototype.slice.call(t.tBodies[0].rows)}),all=sets[0].length+sets[1].length,has=function(r){return(" "+(r.dataset.i||"")+" ").indexOf(" "+issue+" ")>=0};
 var say=function(n){return n.toLocaleString("en-US")},words=function(r){return r._t||(r._t=(r.cells[0].textContent+" "+r.cells[1].textContent+" "+(r.dataset.w||"")).toLowerCase())};
 var keep=function(){var p=[];if(q.value)p.push("q="+encodeURIComponent(q.value));if(sev)p.push("sev="+sev);if(issue){var b=D.querySelector('[data-issue="'+issue+'"]');if(b)p=[b.closest("tr").id]}if(ready)history.replaceState(null,"",p.length?"#"+p.join("&"):location.pathname+location.search)},ready=false;
 var apply=function(open){var w=q.value.toLowerCase().split(/\s+/).filter(Boolean),n=[0,0];sets.forEach(function(set,k){set.forEach(function(r){var ok=(!sev||r.dataset.s===sev)&&(!issue||has(r))&&w.every(function(x){return words(r).indexOf(x)>=0});if(r.hidden===ok)r.hidden=!ok;if(ok)n[k]++})});
  tabs[0].hidden=!n[0];var some=w.length>0||sev||issue;if(open)box.open=n[1]>0&&!!some&&(!n[0]||!!issue);keep();msg.textContent=say(n[0]+n[1])+" of "+say(all)+" runs"+(issue?" of this issue":"")+(n[1]&&!box.open?", "+say(n[1])+" without a fault folded":"")};
 var press=function(){each("[data-sev]",function(o){o.setAttribute("aria-pressed",String(!issue&&o.dataset.sev===sev))})};
 q.addEventListener("input",function(){clearTimeout(timer);timer=setTimeout(function(){apply(true)},80)});box.addEventListener("toggle",function(){apply(false)});
 each("[data-sev]",function(b){b.addEventListener("click",function(){sev=b.dataset.sev;issue="";press();apply(true)})});
 each("[data-issue]",function(b){b.addEventListener("click",function(){issue=b.dataset.issue;sev=q.value="";press();apply(true);D.getElementById("all-runs").scrollIntoView();tabs[0].focus({preventScroll:true})})});
 var key=function(r,i){var c=r.cells[i];return c.dataset.v!==undefined?+c.dataset.v:c.className==="num"?parseFloat(c.textContent.replace(/,/g,""))||0:c.textContent};
 tabs.forEach(function(tb,k){each("th[data-sort]",function(th){var b=D.createElement("button");b.type="button";b.textContent=th.textContent;th.textContent="";th.appendChild(b);
  b.addEventListener("click",function(){var i=th.cellIndex,dn=th.getAttribute("aria-sort")!=="descending",s=dn?-1:1,f=D.createDocumentFragment();each("th",function(o){o.removeAttribute("aria-sort")},tb);th.setAttribute("aria-sort",dn?"descending":"ascending");
  sets[k]=sets[k].map(function(r){return[key(r,i),r]}).sort(function(a,c){return a[0]<c[0]?-s:a[0]>c[0]?s:0}).map(function(p){return p[1]});sets[k].forEach(function(r){f.appendChild(r)});tb.tBodies[0].appendChild(f)})},tb)});
 var at=function(){var h=location.hash.slice(1),row=h.indexOf("issue=")===0&&D.getElementById(h),b=row&&row.querySelector("[data-issue]");if(b){for(var d=row;d;d=d.parentElement)if(d.tagName==="DETAILS")d.open=true;b.click();row.scrollIntoView()}
  else{var v={};h.split("&").forEach(function(x){var i=x.indexOf("=");if(i>0)v[x.slice(0,i)]=decodeURIComponent(x.slice(i+1))});if(v.q||v.sev){q.value=v.q||"";sev=v.sev||"";press();apply(true)}}};
 apply(false);at();ready=true;addEventListener("hashchange",at)}
})();
