"use strict";
// Pages work without this script; it measures time, shows the time left, and checks a story while it is written.
(() => {
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = !navigator.clipboard;
    const text = button.textContent;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = button.dataset.copied;
      setTimeout(() => { button.textContent = text; }, 2000);
    });
  }

  const form = document.querySelector("form[data-step]");
  if (!form) return;
  const began = performance.now();
  const taken = form.querySelector("[name=browser_ms]");
  const hidden = form.querySelector("[name=hidden_ms]");
  let since = document.hidden ? began : null;
  let away = 0;
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) since = performance.now();
    else if (since !== null) { away += performance.now() - since; since = null; }
  });
  const button = form.querySelector("button[type=submit]");
  form.addEventListener("submit", () => {
    if (taken) taken.value = String(Math.round(performance.now() - began));
    if (hidden) hidden.value = String(Math.round(away + (since === null ? 0 : performance.now() - since)));
    if (button) button.disabled = true;
  });
  window.addEventListener("pageshow", (shown) => { if (shown.persisted) location.reload(); });

  // The keys 1 to 9 choose an answer, if all have one: none must be easier to choose than others.
  const listed = [...form.querySelectorAll("[data-keys] input")];
  const choices = listed.length <= 9 ? listed : [];
  choices.forEach((choice, place) => { choice.closest("label").dataset.key = String(place + 1); });
  document.addEventListener("keydown", (event) => {
    const choice = choices[Number(event.key) - 1];
    if (!choice || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("textarea, [type=text]")) return;
    choice.checked = true;
    choice.focus();
  });

  // A set of check boxes: at least one is needed, and the one for "none of them" stands alone.
  const boxes = [...form.querySelectorAll("[name=part]")];
  const judge = () => {
    const ticked = boxes.some((box) => box.checked);
    boxes[0].setCustomValidity(ticked ? "" : boxes[0].closest("fieldset").dataset.missing);
  };
  for (const box of boxes) {
    box.addEventListener("change", () => {
      const clashes = (other) => other !== box && ("alone" in box.dataset || "alone" in other.dataset);
      if (box.checked) for (const other of boxes) if (clashes(other)) other.checked = false;
      judge();
    });
  }
  if (boxes.length) judge();

  const clock = document.querySelector("[data-left-ms]");
  if (clock) {
    const left = Number(clock.dataset.leftMs);
    const limit = Number(clock.dataset.limitMs);
    const template = clock.dataset.text;
    const [words, bar] = clock.children;
    const tick = () => {
      const rest = Math.max(0, left - (performance.now() - began));
      words.textContent = template.replace("{seconds}", String(Math.ceil(rest / 1000)));
      bar.value = rest / 1000;
      clock.classList.toggle("low", rest <= limit / 4);
      if (rest > 0) { setTimeout(tick, 200); return; }
      if (clock.dataset.over) { words.textContent = clock.dataset.over; return; }
      const over = document.createElement("input");
      over.type = "hidden";
      over.name = "over";
      over.value = "1";
      form.append(over);
      form.noValidate = true;
      form.requestSubmit();
    };
    tick();
  }

  const area = form.querySelector("textarea[data-check]");
  if (!area) return;
  const place = form.querySelector(".remarks");
  const confirmation = form.querySelector(".confirm");
  let waiting = 0;
  let asked = 0;
  const list = (kind, title, lines) => {
    const box = document.createElement("div");
    box.className = kind;
    const head = document.createElement("p");
    head.textContent = title;
    box.append(head);
    if (lines.length) {
      const found = document.createElement("ul");
      for (const line of lines) {
        const entry = document.createElement("li");
        entry.textContent = line;
        found.append(entry);
      }
      box.append(found);
    }
    return box;
  };
  const check = async () => {
    const number = ++asked;
    place.setAttribute("aria-busy", "true");
    try {
      const reply = await fetch(area.dataset.check, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ slot: Number(form.elements.slot.value), text: area.value }),
      });
      if (!reply.ok || number !== asked) return;
      const found = await reply.json();
      const boxes = [];
      if (found.problems.length) boxes.push(list("problem", area.dataset.problems, found.problems));
      if (found.questions.length) boxes.push(list("notice", area.dataset.questions, found.questions));
      if (!boxes.length) boxes.push(list("good", area.dataset.fine, []));
      place.replaceChildren(...boxes);
      confirmation.hidden = !found.questions.length;
      place.dataset.checked = area.value;
    } catch (error) {
      // Without a connection there is no help; the story is checked when it is sent.
    } finally {
      place.removeAttribute("aria-busy");
    }
  };
  area.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(check, 400);
  });
  if (area.value) check();
})();
