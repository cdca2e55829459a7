"use strict";

const ROWS = 100; // rows shown at a time

const read = (id) => JSON.parse(document.getElementById(id).textContent);
const find = (selector, within = document) => within.querySelector(selector);

function made(tag, text = "", className = "") {
  const element = document.createElement(tag);
  element.textContent = text;
  if (className) element.className = className;
  return element;
}

/* Light or dark: the system's choice until the button is pressed. Nothing is stored. */

function theme() {
  const button = find("#theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (document.documentElement.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
  const show = () => { button.textContent = isDark() ? "Light" : "Dark"; };
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    show();
  });
  system.addEventListener("change", show);
  show();
  button.hidden = false;
}

/* Charts */

async function charts() {
  const specs = read("chart-data");
  const options = {
    actions: false,
    renderer: "svg",
    ast: true, // interpret expressions: the page's policy forbids compiling them
    defaultStyle: false,
    tooltip: { disableDefaultStyle: true },
  };
  const draw = async (place) => {
    place.textContent = "";
    await vegaEmbed(place, specs[place.dataset.chart], options);
  };
  for (const place of document.querySelectorAll("[data-chart]")) {
    const fold = place.closest("details.folded");
    if (!fold || fold.open) await draw(place);
    else fold.addEventListener("toggle", () => draw(place), { once: true }); // no width while folded
  }
  document.documentElement.dataset.charts = "drawn";
}

/* Samples */

const data = read("sample-data");
const at = Object.fromEntries(data.columns.map((name, number) => [name, number]));
const part = (name) => (row) => row[at[name]];
const several = data.runs.length > 1;
const thousands = (value) => value.toLocaleString("en-US");
const known = (told) => (value) => (value === null ? "unknown" : told(value));
const dollars = known((value) => (value < 1 ? `$${value.toFixed(4)}` : `$${thousands(Number(value.toFixed(2)))}`));
const seconds = known((value) => `${value < 10 ? value.toFixed(2) : thousands(Math.round(value))} s`);
const timed = "cpu_s" in at;
const digits = (value) => (value >= 100 ? thousands(Math.round(value)) : value.toPrecision(3));
const cpu = (value) => (value < 1e-3 ? `${digits(value * 1e6)} µs` : value < 1 ? `${digits(value * 1e3)} ms` : `${digits(value)} s`);
const dashed = (name, told) => (row) => (row[at.cpu_s] === null || row[at[name]] === null ? "-" : told(row[at[name]]));
const passed = (row) => row[at.public_passed] + row[at.hidden_passed];
const tests = (row) => row[at.public_total] + row[at.hidden_total];

const column = (title, value, text, className) => ({ title, value, text, className });
const COLUMNS = [
  column("Sample", part("sample"), null, "text"),
  column("Run", (row) => data.runs[row[at.run]], null, "text"),
  column("Difficulty", (row) => ["easy", "medium", "hard", "unknown"].indexOf(row[at.difficulty]), part("difficulty"), "text wide"),
  column("Platform", part("platform"), null, "text wide"),
  column("Verdict", part("verdict"), null, "text"),
  column("Tests", (row) => (tests(row) ? passed(row) / tests(row) : null), (row) => (tests(row) ? `${passed(row)} of ${tests(row)}` : "unknown"), "wide"),
  column("Turns", part("turns"), null, "wide"),
  column("Tokens", part("tokens"), (row) => known(thousands)(row[at.tokens]), "wide"),
  column("Cost", part("cost"), (row) => dollars(row[at.cost]), "wide"),
  column("Time", part("seconds"), (row) => seconds(row[at.seconds]), several ? "wide" : ""),
  ...(timed ? [
    column("CPU time", part("cpu_s"), dashed("cpu_s", cpu), "wide"),
    column("Pctl", part("percentile"), dashed("percentile", (value) => `P${Math.round(value)}`), "wide"),
    column("B@1", part("beyond"), dashed("beyond", (value) => value.toFixed(3)), "wide"),
  ] : []),
].filter(({ title }) => several || title !== "Run");

const words = new Intl.Collator("en", { numeric: true });
const state = { sort: null, down: false, page: 0, rows: data.rows };
const haystacks = data.rows.map((row) =>
  [row[at.sample], row[at.title], ...row[at.tags]].join("\n").toLowerCase());
const order = new Map(data.rows.map((row, number) => [row, number]));

function choose() {
  const form = find("#filters");
  const wanted = form.words.value.toLowerCase().split(/\s+/).filter(Boolean);
  const picks = ["run", "verdict", "difficulty", "platform", "solved"]
    .filter((name) => form[name].value !== "")
    .map((name) => [at[name], form[name].value]);
  state.rows = data.rows.filter((row, number) =>
    picks.every(([place, value]) => String(row[place]) === value) &&
    wanted.every((word) => haystacks[number].includes(word)));
  sort();
  state.page = 0;
  show();
}

function sort() {
  if (state.sort === null) return;
  const { value } = COLUMNS[state.sort];
  const way = state.down ? -1 : 1;
  const keys = new Map(state.rows.map((row) => [row, value(row)]));
  state.rows.sort((one, other) => {
    const [a, b] = [keys.get(one), keys.get(other)];
    const before = order.get(one) - order.get(other);
    if (a === b) return before;
    if (a === null) return 1; // unknown values are last in both orders
    if (b === null) return -1;
    return way * (typeof a === "number" ? a - b : words.compare(a, b)) || before;
  });
}

function show() {
  const first = state.page * ROWS;
  const shown = state.rows.slice(first, first + ROWS);
  find("#table tbody").replaceChildren(...shown.map(line));
  find("#table").setAttribute("aria-rowcount", String(state.rows.length + 1));
  const all = data.rows.length;
  find("#found").textContent = state.rows.length === all
    ? `${thousands(all)} ${all === 1 ? "sample" : "samples"}`
    : `${thousands(state.rows.length)} of ${thousands(all)} samples`;
  const pages = Math.ceil(state.rows.length / ROWS);
  const bar = find("#pages");
  bar.hidden = pages < 2;
  find("#place").textContent = pages < 2 ? "" :
    `${thousands(first + 1)} to ${thousands(first + shown.length)} of ${thousands(state.rows.length)}`;
  find("[name=back]", bar).disabled = state.page === 0;
  find("[name=on]", bar).disabled = state.page >= pages - 1;
  COLUMNS.forEach(({ heading }, number) =>
    heading.setAttribute("aria-sort", number !== state.sort ? "none" : state.down ? "descending" : "ascending"));
}

function line(row, number) {
  const element = document.createElement("tr");
  element.setAttribute("aria-rowindex", String(state.page * ROWS + number + 2));
  for (const { title, value, text, className } of COLUMNS) {
    if (title === "Sample") {
      element.append(name(row, element));
      continue;
    }
    const cell = made("td", (text ?? value)(row), className);
    if (title === "Verdict") mark(cell, row);
    element.append(cell);
  }
  return element;
}

function mark(cell, row) {
  cell.classList.add(row[at.solved] ? "good" : "bad");
  cell.prepend(row[at.solved] ? "✓ " : "✗ ");
}

function name(row, element) {
  const cell = made("th", "", "text");
  cell.scope = "row";
  const button = made("button", row[at.sample]);
  button.type = "button";
  button.setAttribute("aria-expanded", "false");
  button.addEventListener("click", () => unfold(row, element, button));
  cell.append(button, made("span", row[at.title]));
  return cell;
}

function unfold(row, element, button) {
  const open = button.getAttribute("aria-expanded") === "true";
  button.setAttribute("aria-expanded", String(!open));
  if (open) {
    element.nextElementSibling.remove();
    return;
  }
  const folded = document.createElement("tr");
  const cell = made("td", "", "more");
  cell.colSpan = COLUMNS.length;
  cell.append(facts(row));
  const code = row[at.code];
  if (code) cell.append(made("pre", code));
  folded.append(cell);
  element.after(folded);
}

function facts(row) {
  const list = document.createElement("dl");
  const say = (title, ...what) => {
    const told = document.createElement("dd");
    told.append(...what);
    list.append(made("dt", title), told);
  };
  if (several) say("run", data.runs[row[at.run]]);
  say("problem", `${row[at.title]} · ${row[at.difficulty]} · ${row[at.platform]}`);
  if (row[at.tags].length) say("tags", row[at.tags].join(", "));
  if (row[at.released]) say("released", row[at.released]);
  if (row[at.issues].length) say("known issues", row[at.issues].join(", "));
  say("tests", `public ${row[at.public_passed]} of ${row[at.public_total]}, ` +
    `hidden ${row[at.hidden_passed]} of ${row[at.hidden_total]}`);
  say("ended by", row[at.stop]);
  say("took", `${thousands(row[at.turns])} model calls, ` +
    `${known(thousands)(row[at.tokens])} tokens, ${dollars(row[at.cost])}, ${seconds(row[at.seconds])}`);
  if (timed && row[at.cpu_s] !== null) say("CPU time", efficiency(row));
  if (timed && row[at.lack]) say("no Beyond", row[at.lack]);
  if (timed && row[at.remark]) say("remark", row[at.remark]);
  if (row[at.steps].length) say("revisions", row[at.steps].join("; "));
  say("chosen", row[at.chosen]);
  if (row[at.command]) {
    const copy = made("button", "Copy");
    copy.type = "button";
    copy.addEventListener("click", () => copied(copy, row[at.command]));
    say("transcript", made("code", row[at.command]), " ", copy);
  }
  if (!data.with_code) say("code", "left out of so large a report; the transcript has it");
  return list;
}

function efficiency(row) {
  const told = [cpu(row[at.cpu_s])];
  if (row[at.percentile] !== null) told.push(`faster than ${digits(row[at.percentile])} % of the references`);
  if (row[at.beyond] !== null) {
    const ends = [at.beyond_low, at.beyond_high].map((place) => row[place].toFixed(3)).join(" to ");
    told.push(`Beyond ${row[at.beyond].toFixed(3)} (95 %: ${ends})`);
  }
  return told.join(", ");
}

async function copied(button, text) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(button.parentElement.querySelector("code"));
    button.textContent = "Selected";
  }
}

function options(select, pairs) {
  select.append(...[["", "all"], ...pairs].map(([value, text]) => {
    const option = made("option", text);
    option.value = value;
    return option;
  }));
}

function samples() {
  const form = find("#filters");
  const distinct = (name) => [...new Set(data.rows.map(part(name)))].sort(words.compare).map((word) => [word, word]);
  options(form.run, data.runs.map((run, number) => [String(number), run]));
  for (const name of ["verdict", "difficulty", "platform"]) options(form[name], distinct(name));
  options(form.solved, [["1", "yes"], ["0", "no"]]);
  find("[data-of=run]").hidden = !several;
  COLUMNS.forEach((each, number) => {
    const button = made("button", each.title);
    button.type = "button";
    each.heading = made("th", "", each.className);
    each.heading.scope = "col";
    each.heading.append(button);
    button.addEventListener("click", () => {
      state.down = state.sort === number && !state.down;
      state.sort = number;
      choose();
    });
    find("#table thead tr").append(each.heading);
  });
  form.addEventListener("input", choose);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(choose));
  const turn = (by) => () => {
    state.page += by;
    show();
    find("#samples").scrollIntoView();
  };
  find("[name=back]").addEventListener("click", turn(-1));
  find("[name=on]").addEventListener("click", turn(1));
  form.hidden = false;
  find("#sheet").hidden = false;
  choose();
}

theme();
samples();
charts();
