// One kept asset as a row of the library.

import { ActionBar } from './action-bar.js';
import { percentOf, problemOf, stateOf } from './asset-state.js';
import { element, setAttribute, setProseOrHide, setText, setTextOrHide } from './element.js';
import { clockText, heightText, languageText, percentText, sizeText, variantText } from './format.js';
import { ProgressLine } from './progress-line.js';

const stateNames = { kept: 'Kept', downloading: 'Downloading', failed: 'Failed', partial: 'Partly kept' };

function cell(label, ...children) {
    return element('td', { role: 'cell', 'data-label': label }, ...children);
}

export class AssetRow {
    element;
    #asset;
    #title = element('span', { class: 'asset-title' });
    #source = element('span', { class: 'asset-source' });
    #badge = element('span', { class: 'badge' });
    #ranges = element('span', { class: 'note' });
    #problem = element('span', { class: 'problem' });
    #progress = new ProgressLine();
    #size = cell('Size');
    #duration = cell('Duration');
    #variants = cell('Qualities');
    #audio = element('span');
    #subtitles = element('span');
    #bar;

    constructor(id, actions) {
        this.#bar = new ActionBar(['play-kept', 'resume', 'cancel', 'delete'],
            (action) => actions.perform(action, { asset: this.#asset }));
        this.element = element('tr', { role: 'row', dataset: { assetId: id } },
            element('th', { role: 'rowheader', scope: 'row' }, this.#title, this.#source),
            cell('State', this.#badge, this.#progress.element, this.#ranges, this.#problem),
            this.#size, this.#duration, this.#variants,
            cell('Languages', this.#audio, this.#subtitles),
            cell('Actions', this.#bar.element));
    }

    update({ asset, pace }) {
        this.#asset = asset;
        const state = stateOf(asset);
        const percent = percentOf(asset);
        setAttribute(this.element, 'data-state', state);
        setText(this.#title, asset.title);
        setText(this.#source, asset.source);
        setAttribute(this.#source, 'title', asset.source);
        const share = state === 'partial' && percent !== null ? ` ${percentText(percent)}` : '';
        setText(this.#badge, stateNames[state] + share);
        this.#progress.update(state === 'downloading' ? asset : undefined, asset.title, pace);
        const isHalted = state === 'partial' || state === 'failed';
        setTextOrHide(this.#ranges, isHalted ? rangesText(asset.loadedTimeRanges) : '');
        setProseOrHide(this.#problem, problemOf(asset));
        setText(this.#size, sizeText(asset.bytes));
        setText(this.#duration, clockText(asset.duration ?? asset.expected));
        setText(this.#variants, variantsText(asset.variants));
        setAttribute(this.#variants, 'title', (asset.variants ?? []).map(variantText).join(', ') || undefined);
        setText(this.#audio, languagesText(asset.audio) || '–');
        const subtitles = languagesText(asset.subtitles);
        setTextOrHide(this.#subtitles, subtitles && `Subtitles: ${subtitles}`);
        this.#bar.update(this.#shownActions(state));
    }

    #shownActions(state) {
        const { title, playableOffline } = this.#asset;
        const shown = { delete: { label: 'Delete', name: `Delete the kept copy of ${title}` } };
        if (playableOffline) {
            const primary = state === 'kept';
            shown['play-kept'] = { label: 'Play', name: `Play kept copy of ${title}`, primary };
        }
        if (state === 'partial') shown.resume = { label: 'Resume', name: `Resume the download of ${title}` };
        if (state === 'failed') shown.resume = { label: 'Try again', name: `Try again to download ${title}` };
        if (state === 'downloading') shown.cancel = { label: 'Cancel', name: `Cancel the download of ${title}` };
        return shown;
    }
}

/** Few variants one by one; many as a count and their span, or the row grows taller than the screen. */
function variantsText(variants = []) {
    if (variants.length === 0) return '–';
    const sorted = variants.toSorted((one, other) => one.bandwidth - other.bandwidth);
    if (sorted.length <= 3) return sorted.map(variantText).join(',\n');
    const ends = [sorted[0], sorted.at(-1)].map((variant) => heightText(variant) || variantText(variant));
    return `${sorted.length} qualities, ${ends.join(' to ')}`;
}

function languagesText(codes = []) {
    return codes.map(languageText).join(', ');
}

function rangesText(ranges = []) {
    const shown = ranges.slice(0, 3).map(([start, end]) => `${clockText(start)} to ${clockText(end)}`).join(', ');
    return shown && `Kept: ${shown}${ranges.length > 3 ? ' and more' : ''}`;
}
