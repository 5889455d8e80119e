// Says what a browser lacks, or makes the modules of the page importable by name and starts the first. Old browsers read it, too.
"use strict";
(function () {
  var here = document.currentScript;
  var lacking = [
    ["WebAssembly", typeof WebAssembly === "object"],
    ["Web Workers", typeof Worker === "function"],
    ["DecompressionStream", typeof DecompressionStream === "function"],
    ["import maps", typeof HTMLScriptElement !== "undefined" && !!HTMLScriptElement.supports && HTMLScriptElement.supports("importmap")]
  ].filter(function (part) { return !part[1]; }).map(function (part) { return part[0]; });
  if (lacking.length) {
    var note = document.createElement("p");
    note.className = "note";
    note.id = "lacking";
    note.setAttribute("role", "alert");
    note.textContent = "The playground cannot run here: this browser has no " + lacking.join(", no ") +
      ". Allowed: a current Firefox, Chrome, Edge or Safari, with WebAssembly switched on. The command line gives the same numbers: pip install leobench, then leobench run SCENARIO.";
    document.getElementById("page").appendChild(note);
    return;
  }
  var sources = JSON.parse(document.getElementById("modules").textContent);
  var imports = {};
  Object.keys(sources).forEach(function (name) {
    var text = sources[name] + "\n//# sourceURL=" + name + ".js";
    imports[name] = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  });
  function add(type, text) {
    var script = document.createElement("script");
    script.type = type;
    script.nonce = here.nonce;
    script.textContent = text;
    document.head.appendChild(script);
  }
  add("importmap", JSON.stringify({ imports: imports }));
  add("module", 'import "playground/main";');
})();
