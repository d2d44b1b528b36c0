(function(){"use strict";
var D=document,root=D.documentElement,dat=D.getElementById("data"),data=dat?JSON.parse(dat.textContent):{};
function each(q,f,r){Array.prototype.forEach.call((r||D).querySelectorAll(q),f)}
root.classList.add("on");each(".js",function(x){x.hidden=false});
function tidy(t){return t.replace("e+","e").replace("-","\u2212").replace("e\u2212","e-")}
function stp(v){return Math.abs(v)<1e15?tidy((Math.round(v*10)/10).toLocaleString("en-US")):String(v)}
function num(v){var a=Math.abs(v);if(a!==0&&(a<1e-3||a>=1e7))return tidy(String(+v.toPrecision(4)).indexOf("e")<0?v.toExponential(3).replace(/\.?0+e/,"e"):String(+v.toPrecision(4)));return tidy(a>=1000?Math.round(v).toLocaleString("en-US"):String(+v.toPrecision(4)))}
if(data.xs)data.xs=data.xs.map(function(a){var x=0;return a.by?a.by.map(function(d){return x+=d}):a});
(data.series||[]).forEach(function(s){s.x=data.xs[s.x];s.say=function(i){return s.y[i]===null?(s.odd&&s.odd[i])||"NaN":num(s.y[i])}});
if(data.xs)data.steps=data.xs[data.steps];
var axis=data.axis||"step";if(axis!=="step")stp=num;
/* copy buttons */
each("[data-copy]",function(b){b.addEventListener("click",function(){
 var t=D.getElementById(b.dataset.copy).dataset.text||D.getElementById(b.dataset.copy).textContent,done=function(ok){b.textContent=ok?"Copied":"Press Ctrl+C";setTimeout(function(){b.textContent="Copy"},1600)};
 function old(){var s=getSelection(),r=D.createRange();r.selectNodeContents(D.getElementById(b.dataset.copy));s.removeAllRanges();s.addRange(r);var ok=false;try{ok=D.execCommand("copy")}catch(e){}done(ok)}
 if(navigator.clipboard&&isSecureContext)navigator.clipboard.writeText(t).then(function(){done(true)},old);else old()})});
/* a chart: pointer and arrow keys read every series at one step; a stretch of it is drawn anew */
function css(n){return getComputedStyle(root).getPropertyValue("--"+n).trim()}
/* round places of an axis, about n of them */
function ticks(a,z,n){var raw=(z-a)/n,p=Math.pow(10,Math.floor(Math.log10(raw))),m=[1,2,5,10].filter(function(k){return k*p>=raw*.999})[0]*p,t=[],v=Math.ceil(a/m-1e-9)*m;for(;v<=z+m*1e-9&&t.length<20;v+=m)t.push(Math.abs(v)<m*1e-6?0:+v.toPrecision(12));return t}
function powers(a,z,n){var t=[],i,l=[];for(i=Math.floor(a);i<=Math.ceil(z);i++)[1,2,5].forEach(function(m){var v=Math.log10(m)+i;if(v>=a&&v<=z){l.push(v);if(m===1)t.push(v)}});if(t.length>2)l=t;var e=Math.ceil(l.length/n)||1;return l.filter(function(v,k){return k%e===0})}
window.RunLens={each:each,css:css,num:num,ticks:ticks,powers:powers}; // for the workbench
each("[data-cross]",function(box){var out=D.getElementById(box.dataset.cross),S=data.series||[],steps=data.steps||[],P=data.panels||[],k=steps.length-1;
 var cv=D.createElement("canvas"),g=cv.getContext("2d"),brush=D.createElement("div"),back=D.createElement("button"),view=null,drag=null,cross=null,map=null;
 brush.className="brush";brush.hidden=true;box.appendChild(cv);box.appendChild(brush);back.type="button";back.textContent="Show all steps";back.hidden=true;out.parentNode.insertBefore(back,out.nextSibling);
 function at(s,x){var a=s.x,lo=0,hi=a.length-1;if(hi<0)return null;while(lo<hi){var m=(lo+hi+1)>>1;if(a[m]<=x)lo=m;else hi=m-1}return a[lo]<=x?lo:null}
 function show(step){out.textContent="";var b=D.createElement("b");b.textContent=axis+" "+stp(step);out.appendChild(b);cross=step;
  S.forEach(function(s){var i=at(s,step),e=D.createElement("span");e.textContent=s.name+" ";var v=D.createElement("b");v.textContent=i===null?"–":s.say(i);e.appendChild(v);if(i!==null&&s.x[i]!==step)e.appendChild(D.createTextNode(" at "+stp(s.x[i])));out.appendChild(e)});
  each("svg.ch",function(c){var x0=+c.dataset.l,x1=+c.dataset.r,a=+c.dataset.a,z=+c.dataset.z;if(isNaN(x0))return;var x=x0+(step-a)/(z-a)*(x1-x0);each(".xh",function(l){l.setAttribute("x1",x);l.setAttribute("x2",x);l.classList.add("go")},c);
   (c.dataset.t||"").split(" ").forEach(function(top,i){if(!P[i])return;var t=c.querySelectorAll(".xv")[i];if(!t){t=D.createElementNS("http://www.w3.org/2000/svg","text");t.setAttribute("class","b xv");t.setAttribute("aria-hidden","true");c.appendChild(t)}
    var late=x>(x0+x1)/2;t.setAttribute("x",x+(late?-6:6));t.setAttribute("y",x-x0<200?+top+12:top-8);t.setAttribute("text-anchor",late?"end":"start");t.textContent=values(P[i],step)})},box);if(view)draw()}
 function values(p,step){return p.series.map(function(i){var s=S[i],j=at(s,step);return j===null?"–":s.say(j)}).join(" \u00b7 ")}
 function whole(){var c=box.querySelector("svg.ch");return[+c.dataset.a,+c.dataset.z]}
 /* the step below the pointer; null beside the chart */
 function where(ev){if(ev.target===cv)return map.a+(ev.offsetX-map.L)/(map.R-map.L)*(map.z-map.a);
  var c=ev.target.closest("svg.ch");if(!c||isNaN(+c.dataset.l))return null;var r=c.getBoundingClientRect(),px=(ev.clientX-r.left)/r.width*c.viewBox.baseVal.width;return+c.dataset.a+(px-c.dataset.l)/(c.dataset.r-c.dataset.l)*(c.dataset.z-c.dataset.a)}
 function zoom(a,z){var w=whole();a=Math.max(a,w[0]);z=Math.min(z,w[1]);if(a<=w[0]&&z>=w[1])return reset();if(!(z-a>(w[1]-w[0])*1e-6))return;view=[a,z];box.classList.add("zoomed");back.hidden=false;draw()}
 function reset(){view=null;box.classList.remove("zoomed");back.hidden=true}
 function draw(){var w=box.clientWidth,r=window.devicePixelRatio||1,L=56,T=8,h=P.reduce(function(t,p){return t+p.h+34},T)+26,font="12px "+getComputedStyle(D.body).fontFamily,a=view[0],z=view[1];
  cv.width=w*r;cv.height=h*r;cv.style.height=h+"px";g.setTransform(r,0,0,r,0,0);g.font=font;
  var R=w-Math.min(150,12+Math.max.apply(0,S.map(function(s){return g.measureText(s.name).width}))),X=function(x){return L+(x-a)/(z-a)*(R-L)},y=T;map={a:a,z:z,L:L,R:R};
  P.forEach(function(p){var f=function(v){return p.log?Math.log10(v):v},vs=p.refs.slice(),top=y+22,low=top+p.h;
   p.series.forEach(function(i){S[i].x.forEach(function(x,j){if(x>=a&&x<=z)vs.push(S[i].y[j])})});vs=vs.filter(function(v){return v!==null&&(!p.log||v>0)}).map(f);
   var lo=Math.min.apply(0,vs),hi=Math.max.apply(0,vs);if(!vs.length){lo=0;hi=1}var pad=(hi-lo)*.06||Math.abs(hi)*.05||.5;lo-=pad;hi+=pad;var Y=function(v){return low-(f(v)-lo)/(hi-lo)*p.h};
   g.lineWidth=1;g.strokeStyle=css("line");g.fillStyle=css("mut");g.font=font;
   (p.log?powers:ticks)(lo,hi,Math.max(2,Math.round(p.h/40))).forEach(function(v){v=p.log?+Math.pow(10,v).toPrecision(6):v;g.beginPath();g.moveTo(L,Y(v));g.lineTo(R,Y(v));g.stroke();g.textAlign="right";g.fillText(num(v),L-8,Y(v)+4)});
   g.fillStyle=css("ink");g.textAlign="left";g.font="600 "+font;g.fillText(p.title,L,top-8);g.font=font;
   g.save();g.beginPath();g.rect(L,top-6,R-L,p.h+8);g.clip();
   g.strokeStyle=css("ink");g.setLineDash([5,4]);p.refs.forEach(function(v){g.beginPath();g.moveTo(L,Y(v));g.lineTo(R,Y(v));g.stroke()});g.setLineDash([]);
   p.series.forEach(function(i){var s=S[i],open=false,last=null;g.strokeStyle=css(s.c);g.lineWidth=1.6;g.beginPath();
    s.x.forEach(function(x,j){var v=s.y[j],next=s.x[j+1],prior=s.x[j-1];if(x<a&&!(next>=a)||x>z&&!(prior<=z))return;if(v===null||p.log&&v<=0){open=false;return}if(open)g.lineTo(X(x),Y(v));else g.moveTo(X(x),Y(v));open=true;if(x<=z)last=v});g.stroke();
    s.x.forEach(function(x,j){if(s.y[j]===null&&x>=a&&x<=z){g.strokeStyle=css("crit");g.beginPath();g.moveTo(X(x),top-5);g.lineTo(X(x),top+5);g.stroke()}});s.end=last});
   g.restore();g.textAlign="left";p.series.forEach(function(i){var s=S[i];if(s.end===null)return;g.fillStyle=css(s.c);g.fillText(s.name,R+8,Y(s.end)+4,w-R-8)});y=low+12});
  var cut=function(x,c,dash){if(x<a||x>z)return;g.strokeStyle=c;g.setLineDash(dash);g.beginPath();g.moveTo(X(x),T);g.lineTo(X(x),y-12);g.stroke();g.setLineDash([])};
  if(cross!==null&&cross>=a&&cross<=z){var up=T;g.font="600 "+font;g.fillStyle=css("ink");P.forEach(function(p){var late=X(cross)>(L+R)/2;g.textAlign=late?"right":"left";g.fillText(values(p,cross),X(cross)+(late?-6:6),up+34);up+=p.h+34});g.font=font;g.textAlign="left"}
  g.lineWidth=1.25;(data.onsets||[]).forEach(function(o){cut(o.x,css(o.c),[2,3])});if(cross!==null)cut(cross,css("ink"),[]);
  g.fillStyle=css("mut");g.textAlign="center";ticks(a,z,w<500?3:7).forEach(function(v){g.fillText(stp(v),X(v),y+6)});g.textAlign="left";g.fillText(axis,0,y+6)}
 box.addEventListener("pointerdown",function(ev){var s=where(ev);if(s===null||ev.button||ev.pointerType==="touch"||!P.length)return;drag={x:ev.clientX,s:s};box.focus({preventScroll:true});ev.preventDefault()});
 addEventListener("pointerup",function(ev){if(!drag)return;var d=drag,z=d.to===undefined?d.s:d.to;drag=null;brush.hidden=true;if(Math.abs(ev.clientX-d.x)>8)zoom(Math.min(d.s,z),Math.max(d.s,z))});
 box.addEventListener("pointermove",function(ev){var st=where(ev),best=0,bd=1/0;if(st===null)return;
  if(drag){var l=box.getBoundingClientRect().left;drag.to=st;brush.hidden=false;brush.style.left=Math.min(drag.x,ev.clientX)-l+"px";brush.style.width=Math.abs(ev.clientX-drag.x)+"px"}
  for(var i=0;i<steps.length;i++){var d=Math.abs(steps[i]-st);if(d<bd){bd=d;best=i}}k=best;show(steps[k])});
 back.addEventListener("click",function(){reset();box.focus({preventScroll:true})});addEventListener("resize",function(){if(view)draw()});matchMedia("(prefers-color-scheme: dark)").addEventListener("change",function(){if(view)draw()});
 box.addEventListener("keydown",function(ev){var j={ArrowLeft:-1,ArrowRight:1,PageUp:-10,PageDown:10}[ev.key],v=view||whole(),half={"+":(v[1]-v[0])/4,"=":(v[1]-v[0])/4,"-":v[1]-v[0]}[ev.key];
  if(half&&P.length)zoom(steps[k]-half,steps[k]+half);else if(ev.key==="Escape"&&view)reset();else{if(ev.key==="Home")k=0;else if(ev.key==="End")k=steps.length-1;else if(j)k=Math.max(0,Math.min(steps.length-1,k+j));else return;show(steps[k])}ev.preventDefault()})});
})();
