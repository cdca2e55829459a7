"use strict";
// Keys, search while typing, and live updates of a run. Pages also work without this script.

const EVERY_MS = 1000;
const EVERY_MS_AT_REST = 2500;
const TYPING_MS = 200;

let asked = 0; // number of the last update; answers to older ones are dropped
let version = document.querySelector("main").dataset.version;

// ---- updating -----------------------------------------------------------------------------

function carryOver(before, after) {
  // Keep what the user has folded or unfolded.
  const folds = (root) => [...root.querySelectorAll("details")];
  const open = new Map(folds(before).map((fold, at) => [fold.dataset.key + at, fold.open]));
  folds(after).forEach((fold, at) => {
    const was = open.get(fold.dataset.key + at);
    if (was !== undefined) fold.open = was;
  });
  const ticked = new Set([...before.querySelectorAll("input[type=checkbox]:checked")].map((box) => box.value));
  for (const box of after.querySelectorAll("input[type=checkbox]")) box.checked = ticked.has(box.value);
}

function replace(before, after) {
  const now = document.importNode(after, true);
  carryOver(before, now);
  const focused = before.contains(document.activeElement) && document.activeElement;
  const scrolled = [...before.querySelectorAll(".wide")].map((box) => box.scrollLeft);
  before.replaceWith(now);
  now.querySelectorAll(".wide").forEach((box, at) => { box.scrollLeft = scrolled[at] || 0; });
  if (focused) {
    const href = focused.getAttribute("href");
    const same = href && [...now.querySelectorAll("a")].find((a) => a.getAttribute("href") === href);
    if (same) same.focus({ preventScroll: true });
  }
}

function mergeChildren(before, after) {
  // Both are in the order of the transcript; unchanged elements are not touched.
  let at = before.firstElementChild;
  for (const child of after.children) {
    const old = document.getElementById(child.id);
    if (old && old.parentElement === before) {
      while (at && at !== old) { const gone = at; at = at.nextElementSibling; gone.remove(); }
      at = old.nextElementSibling;
      if (old.dataset.v !== child.dataset.v) replace(old, child);
    } else {
      before.insertBefore(document.importNode(child, true), at);
    }
  }
  while (at) { const gone = at; at = at.nextElementSibling; gone.remove(); }
}

function merge(text) {
  const page = new DOMParser().parseFromString(text, "text/html");
  const main = page.querySelector("main");
  if (!main) return;
  for (const part of page.querySelectorAll("[data-merge][data-v]")) {
    const old = document.getElementById(part.id);
    if (old && old.dataset.v !== part.dataset.v) replace(old, part);
  }
  for (const part of page.querySelectorAll("[data-merge-children]")) {
    const old = document.getElementById(part.id);
    if (old) mergeChildren(old, part);
  }
  if (main.querySelector("#talk > *")) document.getElementById("none")?.remove();
  const own = document.querySelector("main");
  own.dataset.running = main.dataset.running;
  version = main.dataset.version;
  if (document.getElementById("runs")?.tagName !== page.getElementById("runs")?.tagName) {
    own.replaceChildren(...[...main.children].map((child) => document.importNode(child, true)));
  }
}

async function update(address, always) {
  const number = ++asked;
  const headers = always ? {} : { "If-None-Match": `"${version}"` };
  let answer;
  try {
    answer = await fetch(address, { headers, cache: "no-store", credentials: "same-origin" });
  } catch {
    say("the viewer has ended");
    return;
  }
  if (number !== asked) return;
  if (answer.status === 200) {
    const text = await answer.text();
    if (number === asked) merge(text);
  }
  const ok = answer.status === 200 || answer.status === 304;
  const running = document.querySelector("main").dataset.running === "1";
  say(ok ? (running ? "● live" : "") : `not updated (${answer.status})`);
}

function say(word) {
  const live = document.getElementById("live");
  if (live.textContent !== word) live.textContent = word;
}

async function keepUp() {
  for (;;) {
    const running = document.querySelector("main").dataset.running === "1";
    await new Promise((go) => setTimeout(go, running ? EVERY_MS : EVERY_MS_AT_REST));
    if (!document.hidden && !typing) await update(location.href, false);
  }
}

// ---- charts -------------------------------------------------------------------------------

async function charts() {
  const data = document.getElementById("chart-data");
  if (!data || !window.vegaEmbed) return;
  const specs = JSON.parse(data.textContent);
  const options = { actions: false, renderer: "svg", ast: true, defaultStyle: false, tooltip: { disableDefaultStyle: true } };
  for (const place of document.querySelectorAll("[data-chart]")) await vegaEmbed(place, specs[place.dataset.chart], options);
  document.documentElement.dataset.charts = "drawn";
}

charts();

// ---- searching ----------------------------------------------------------------------------

let typing = 0;

function find(form) {
  const words = new URLSearchParams(new FormData(form));
  for (const [key, value] of [...words]) if (!value) words.delete(key);
  const address = `${location.pathname}${[...words].length ? "?" + words : ""}`;
  history.replaceState(null, "", address);
  return update(address, true);
}

const form = document.querySelector("form[data-search]");
if (form) {
  form.addEventListener("input", (event) => {
    clearTimeout(typing);
    const wait = event.target.type === "search" ? TYPING_MS : 0;
    typing = setTimeout(() => { typing = 0; find(form); }, wait);
  });
  form.addEventListener("submit", (event) => { event.preventDefault(); find(form); });
}

// ---- keys ---------------------------------------------------------------------------------

function step(by) {
  const beside = document.querySelector(by > 0 ? "a[rel=next]" : "a[rel=prev]");
  if (document.querySelector(".around")) { if (beside) location.assign(beside.href); return; }
  const items = [...document.querySelectorAll("a[data-item]")];
  if (!items.length) return;
  const at = items.indexOf(document.activeElement);
  if (at < 0) { items[by > 0 ? 0 : items.length - 1].focus(); return; }
  const next = items[at + by];
  if (next) { next.focus(); return; }
  const page = document.querySelector(`a[data-page=${by > 0 ? "on" : "back"}]`);
  if (page) location.assign(page.href);
}

function foldAll() {
  const folds = [...document.querySelectorAll("details")];
  const open = folds.some((fold) => !fold.open);
  folds.forEach((fold) => { fold.open = open; });
}

const KEYS = {
  j: () => step(1),
  k: () => step(-1),
  e: foldAll,
  u: () => document.querySelectorAll(".top a").item(document.querySelectorAll(".top a").length - 1)?.click(),
  "/": () => document.querySelector("input[type=search]")?.focus(),
};

document.addEventListener("keydown", (event) => {
  const own = event.target.closest("input, select, textarea");
  if (own) {
    if (event.key === "Escape") own.blur();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
  event.preventDefault();
  KEYS[event.key]();
});

keepUp();
