"use strict";
(() => {
  const { make, unpack } = page;
  const $ = (id) => document.getElementById(id);
  const [select, play, slider] = [document.querySelector("select"), $("play"), $("step")];
  const STEP_MS = 900;
  let card = null;
  let timer = 0;

  // Show a story after some of its sentences; the proof and the answer come after the last one.
  function show(number) {
    slider.value = String(number);
    const atEnd = number >= Number(slider.max);
    for (const picture of $("picture").querySelectorAll("svg[data-rows]")) {
      const rows = picture.dataset.rows.split(" ").map(Number);
      const { width } = picture.viewBox.baseVal;
      const end = number ? rows[Math.min(number, rows.length - 1)] : 0;
      for (const told of picture.querySelectorAll(".told")) {
        told.style.clipPath = `polygon(0 0, ${width}px 0, ${width}px ${end}px, 0 ${end}px) view-box`;
      }
      for (const late of picture.querySelectorAll(".proof, .end")) late.style.opacity = atEnd ? "1" : "0";
    }
    const proof = card.proof.join(", ");
    $("answer").textContent = atEnd ? `${card.answer.replaceAll("_", " ")} · proved by sentences ${proof}` : "";
  }

  function stop() {
    clearInterval(timer);
    timer = 0;
    play.textContent = "Play";
  }

  function start() {
    if (Number(slider.value) >= Number(slider.max)) show(0);
    play.textContent = "Pause";
    timer = setInterval(() => {
      show(Number(slider.value) + 1);
      if (Number(slider.value) >= Number(slider.max)) stop();
    }, STEP_MS);
  }

  function open(chosen) {
    stop();
    card = chosen;
    $("question").textContent = card.question;
    const parser = new DOMParser();
    const forms = [["narrow", card.narrow], ["wide", card.svg]].filter(([, svg]) => svg);
    const drawing = make("div", "drawing");
    for (const [form, svg] of forms) {
      const node = document.importNode(parser.parseFromString(svg, "image/svg+xml").documentElement, true);
      node.classList.add(form);
      drawing.append(node);
    }
    $("picture").replaceChildren(drawing);
    slider.max = String(drawing.querySelector("svg.wide").dataset.rows.split(" ").length);
    show(Number(slider.max));
  }

  unpack("cards").then((cards) => {
    select.addEventListener("input", () => open(cards[Number(select.value)]));
    play.addEventListener("click", () => (timer ? stop() : start()));
    slider.addEventListener("input", () => {
      stop();
      show(Number(slider.value));
    });
    open(cards[0]);
    document.documentElement.dataset.ready = "";
  });
})();
