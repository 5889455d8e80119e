// Makes the modules of the page importable by name, and starts the first. Runs once, before any module.
"use strict";
{
  const here = document.currentScript;
  const sources = JSON.parse(document.getElementById("modules").textContent);
  const imports = {};
  for (const [name, source] of Object.entries(sources)) {
    const text = `${source}\n//# sourceURL=${name}.js`;
    imports[name] = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  }
  const add = (type, text) => {
    const script = document.createElement("script");
    script.type = type;
    script.nonce = here.nonce;
    script.textContent = text;
    document.head.append(script);
  };
  add("importmap", JSON.stringify({ imports }));
  add("module", 'import "report/main";');
}
