"use strict";
// The home page and its parts: cards for what is in the data folder, and a place to drop files on.
(() => {
  const { make, request, words } = page;
  const $ = (id) => document.getElementById(id);
  const place = document.querySelector("main").dataset.place;
  const FEW = 6; // cards of a kind on the home page
  const isHome = place === "/";
  const LEVEL = isHome ? "h3" : "h2"; // of headings below that of a section

  for (const section of document.querySelectorAll("[data-for]")) section.hidden = !section.dataset.for.split(" ").includes(place);
  if (!isHome) {
    // A part on its own page has its heading above everything.
    const title = document.querySelector(`[data-kind="${place.slice(1)}"] h2`);
    const heading = make("h1", "", title.textContent);
    heading.id = title.id;
    title.parentElement.remove();
    document.querySelector("main").prepend(heading);
  }

  const percent = (value) => (100 * value).toFixed(1);
  const date = (text) => new Date(text).toLocaleDateString("en", { day: "numeric", month: "short", year: "numeric" });
  const chip = (label, className = "") => make("span", `chip ${className}`, label);
  const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

  function shape(name, attributes) {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    return node;
  }

  // A share from 0 to 1 with its interval.
  function meter(value, low, high) {
    const node = shape("svg", { class: "meter", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" });
    node.append(shape("rect", { class: "ground", width: 100, height: 8, rx: 2 }));
    node.append(shape("rect", { class: "range", x: 100 * low, width: Math.max(100 * (high - low), 0.5), height: 8 }));
    if (high > 0) node.append(shape("rect", { class: "at", x: Math.min(100 * value, 99.2), width: 0.8, height: 8 }));
    return node;
  }

  function link(label, path, className = "") {
    const node = make("a", className, label);
    node.href = path;
    return node;
  }

  function empty(...content) {
    return make("li", "empty", make("p", "", ...content));
  }

  // --- runs

  function runCard(run) {
    const full = run.model ?? run.path;
    const [name, ...provider] = full.split("/").reverse();
    const box = make("input");
    Object.assign(box, { type: "checkbox", name: "run", value: run.path });
    const label = make("label", "name", box, make("span", "data", name, ...(provider.length ? [make("small", "data", provider.reverse().join("/"))] : [])));
    label.title = full;
    const card = make("li", "tile run", label);
    if (run.accuracy !== undefined) {
      const [low, high] = run.interval ?? [run.accuracy, run.accuracy];
      const interval = run.interval ? make("small", "", ` ${percent(low)}–${percent(high)}`) : "";
      card.append(make("p", "score", `${percent(run.accuracy)}%`, interval), meter(run.accuracy, low, high));
    }
    const told = [run.questions === undefined ? "" : count(run.questions, "question"), run.started ? date(run.started) : ""];
    const report = link("Report", `/report?run=${encodeURIComponent(run.path)}`);
    report.setAttribute("aria-label", `Report on ${full}, ${run.data ?? ""}`);
    card.append(make("div", "foot", make("span", "", told.filter(Boolean).join(" · ")), report));
    return card;
  }

  function showRuns(runs) {
    const form = $("runs");
    if (!runs.length) {
      form.replaceChildren(make("ul", "tiles", empty("No runs yet. ", make("code", "", "storyproof evaluate --model rules --data DATA --output-dir runs"), " writes them.")));
      return;
    }
    const byData = new Map();
    const newest = [...runs].sort((one, other) => (other.started ?? "").localeCompare(one.started ?? ""));
    for (const run of isHome ? newest.slice(0, FEW) : runs) {
      const name = [run.data || "other data", run.split].filter(Boolean).join(" · ");
      if (!byData.has(name)) byData.set(name, []);
      byData.get(name).push(run);
    }
    const parts = [...byData].flatMap(([name, each]) => {
      each.sort((one, other) => (other.accuracy ?? -1) - (one.accuracy ?? -1));
      return [make(LEVEL, "group data", name), make("ul", "tiles", ...each.map(runCard))];
    });
    const open = make("button", "primary button", "");
    open.type = "submit";
    const all = make("button", "", "Select all");
    all.type = "button";
    const bar = make("div", "bar", open, all, make("span", "note"));
    const boxes = () => [...form.querySelectorAll("input")];
    const update = () => {
      const chosen = boxes().filter((box) => box.checked).length;
      open.disabled = !chosen;
      open.textContent = chosen ? `Open the report on ${count(chosen, "run")}` : "Choose runs to compare";
      bar.classList.toggle("is-some", chosen > 0);
      all.textContent = chosen === boxes().length ? "Select none" : "Select all";
    };
    all.addEventListener("click", () => {
      const isFull = boxes().every((box) => box.checked);
      for (const box of boxes()) box.checked = !isFull;
      update();
    });
    form.addEventListener("change", update);
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const query = boxes().filter((box) => box.checked).map((box) => `run=${encodeURIComponent(box.value)}`).join("&");
      await open_page(`/report?${query}`, bar.lastElementChild, "Building the report …");
    });
    form.replaceChildren(...parts, bar);
    update();
  }

  // Build a page that takes a while, and go there when it is ready.
  async function open_page(path, status, message) {
    status.textContent = message;
    status.className = "note";
    try {
      const answer = await fetch(path, { mode: "same-origin", credentials: "omit" });
      if (!answer.ok) {
        const found = new DOMParser().parseFromString(await answer.text(), "text/html");
        throw new Error(found.querySelector("main p")?.textContent ?? `The server answers with status ${answer.status}.`);
      }
      location.assign(path);
    } catch (error) {
      status.textContent = error.message;
      status.className = "bad";
    }
  }

  // --- data

  function dataCard(data) {
    const card = make("li", "tile", make(LEVEL, "data name", data.path));
    const about = [];
    if (data.benchmark) about.push(words(data.benchmark));
    for (const [split, questions] of Object.entries(data.splits ?? {})) about.push(`${split}: ${count(questions, "question")}`);
    if (data.bytes !== undefined) about.push(`${Math.max(data.bytes / 1024, 1).toFixed(0)} KB`);
    card.append(make("p", "note data", about.join(" · ")));
    const status = make("p", "note");
    if (data.audit) {
      const { ok, result, understood } = data.audit;
      card.append(make("p", "", chip(ok ? "✓ passed" : "✗ problems", ok ? "good" : "bad"), " ", chip(`${percent(understood)}% understood`)));
      card.append(make("p", "note data", result));
    } else {
      card.append(make("p", "", chip("not audited yet")));
    }
    const path = `/audit?data=${encodeURIComponent(data.path)}`;
    const audit = link(data.audit ? "Open the audit" : "Audit", path);
    audit.setAttribute("aria-label", `${audit.textContent} of ${data.path}`);
    audit.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      open_page(path, status, "Checking every answer …");
    });
    card.append(make("div", "foot", status, audit));
    return card;
  }

  function showData(found) {
    const shown = isHome ? found.slice(0, FEW) : found;
    const none = empty("No data yet. Drop a file above, or ", make("code", "", "storyproof generate tomi --out tomi"), " makes some.");
    $("data").replaceChildren(...(found.length ? shown.map(dataCard) : [none]));
  }

  // --- studies

  function studyCard(study) {
    const card = make("li", "tile", make(LEVEL, "data name", study.title ?? study.path));
    if (study.done !== null && study.wanted) {
      const share = study.done / study.wanted;
      card.append(make("p", "score", `${Math.floor(100 * share)}%`, make("small", "", ` ${study.done} of ${count(study.wanted, "result")}`)), meter(share, 0, share));
      card.append(make("p", "note", count(study.participants, "participant")));
    } else {
      card.append(make("p", "note", "Its database is somewhere else."));
    }
    card.append(make("div", "foot", ...(study.address ? studyLinks(study) : [make("code", "data", `storyproof study serve ${study.path}`)])));
    return card;
  }

  function studyLinks(study) {
    const dashboard = link("Dashboard", `${study.address}/admin`);
    dashboard.setAttribute("aria-label", `Dashboard of ${study.title ?? study.path}`);
    return [make("span", "data", new URL(study.address).host), dashboard];
  }

  function showStudies(found) {
    const shown = isHome ? found.slice(0, FEW) : found;
    const none = empty("No studies yet. ", make("code", "", "storyproof study new NAME --kind solve --data DATA"), " creates one.");
    $("studies").replaceChildren(...(found.length ? shown.map(studyCard) : [none]));
  }

  // --- files that are dropped

  async function take(file) {
    const status = $("dropped");
    status.className = "";
    status.textContent = `Reading ${file.name} …`;
    try {
      const { data } = await request(`/api/drop?name=${encodeURIComponent(file.name)}`, file);
      await open_page(`/audit?data=${encodeURIComponent(data)}`, status, `Checking every answer of ${file.name} …`);
    } catch (error) {
      status.textContent = error.message;
      status.className = "bad";
    }
  }

  const drop = document.querySelector(".drop");
  for (const [name, isOver] of [["dragover", true], ["dragleave", false], ["drop", false]]) {
    document.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.toggle("is-over", isOver);
      if (name === "drop" && !drop.hidden && event.dataTransfer?.files.length) take(event.dataTransfer.files[0]);
    });
  }
  $("file").addEventListener("change", (event) => event.target.files.length && take(event.target.files[0]));

  async function start() {
    try {
      const found = await request("/api/files");
      showRuns(found.runs);
      showData(found.data);
      showStudies(found.studies);
      $("folder").replaceChildren("From the folder ", make("span", "data", found.folder));
      for (const section of document.querySelectorAll("[data-kind]")) {
        if (isHome) section.querySelector(".all").hidden = found[section.dataset.kind].length <= FEW;
      }
    } catch (error) {
      $("folder").textContent = error.message;
      $("folder").className = "bad";
    }
    document.documentElement.dataset.ready = "";
  }

  start();
})();
