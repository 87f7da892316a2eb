// A row of the table of downloads.

import { ActionBar } from './action-bar.js';
import { artworkURL } from './api.js';
import { assetState, downloadedPercent, downloadedText, downloadErrorMessage, elsewhereText } from './asset-state.js';
import { downloadActions } from './download-actions.js';
import { DownloadProgress } from './download-progress.js';
import { createElement, setAttribute, setHidden, setText, setTextOrHide, setTextWithURLsOrHide } from './element.js';
import { formatLanguage, formatPercent, formatResolution, formatSize, formatTime, formatVariant } from './format.js';

const stateNames = {
    downloading: 'Downloading', recording: 'Recording', waiting: 'Waiting', paused: 'Paused', failed: 'Failed',
    partial: 'Incomplete',
};

function createCell(label, ...children) {
    return createElement('td', { role: 'cell', 'data-label': label }, ...children);
}

export class AssetRow {
    element;
    #asset;
    #artwork = createElement('img', { class: 'asset-artwork', alt: '', loading: 'lazy' });
    #title = createElement('span', { class: 'asset-title' });
    #source = createElement('span', { class: 'asset-source' });
    #badge = createElement('span', { class: 'badge' });
    #ranges = createElement('span', { class: 'note' });
    #error = createElement('span', { class: 'error' });
    #progress = new DownloadProgress();
    #size = createCell('Size');
    #duration = createCell('Duration');
    #quality = createCell('Quality');
    #audio = createElement('span');
    #subtitles = createElement('span');
    #actionBar;

    constructor(id, actions) {
        this.#actionBar = new ActionBar(['play-offline', 'resume', 'pause', 'cancel', 'delete'],
            (action) => actions.perform(action, { asset: this.#asset }));
        this.element = createElement('tr', { role: 'row', dataset: { assetId: id } },
            createElement('th', { role: 'rowheader', scope: 'row' }, this.#artwork, this.#title, this.#source),
            createCell('Status', this.#badge, this.#progress.element, this.#ranges, this.#error),
            this.#size, this.#duration, this.#quality,
            createCell('Languages', this.#audio, this.#subtitles),
            createCell('Actions', this.#actionBar.element));
    }

    update({ asset, downloadSpeed, size }) {
        this.#asset = asset;
        const state = assetState(asset);
        const percent = downloadedPercent(asset);
        setAttribute(this.element, 'data-state', state);
        const artwork = artworkURL(asset);
        setAttribute(this.#artwork, 'src', artwork);
        setHidden(this.#artwork, !artwork);
        setText(this.#title, asset.title);
        setText(this.#source, asset.source);
        setAttribute(this.#source, 'title', asset.source);
        // A recording has no total.
        const hasPercent = ['partial', 'paused', 'waiting'].includes(state) && percent !== null && !asset.recording;
        const percentText = hasPercent ? ` ${formatPercent(percent)}` : '';
        setText(this.#badge, state === 'downloaded' ? downloadedText(asset) : elsewhereText(asset, stateNames[state]) + percentText);
        this.#progress.update(state === 'downloading' ? asset : undefined, asset.title, downloadSpeed, size);
        const isStopped = ['partial', 'paused', 'failed'].includes(state);
        setTextOrHide(this.#ranges, isStopped ? formatRanges(asset.loadedTimeRanges) : '');
        setTextWithURLsOrHide(this.#error, downloadErrorMessage(asset));
        setText(this.#size, formatSize(size));
        setText(this.#duration, formatTime(asset.duration ?? asset.expected));
        const variants = variantsWithBitRate(asset);
        setText(this.#quality, formatVariants(variants));
        setAttribute(this.#quality, 'title', variants.map(formatVariant).join(', ') || undefined);
        setText(this.#audio, formatLanguages(asset.audio) || '–');
        const subtitles = formatLanguages(asset.subtitles);
        setTextOrHide(this.#subtitles, subtitles && `Subtitles: ${subtitles}`);
        this.#actionBar.update(this.#availableActions(state));
    }

    #availableActions(state) {
        const { title, playableOffline } = this.#asset;
        const actions = { delete: { label: 'Delete', name: `Delete the offline copy of ${title}` } };
        if (playableOffline) {
            const primary = state === 'downloaded';
            actions['play-offline'] = { label: 'Play', name: `Play the offline copy of ${title}`, primary };
        }
        return { ...actions, ...downloadActions(this.#asset, title) };
    }
}

/** Returns the variants; the only one of a stream without variants has the average bit rate of what is downloaded. */
function variantsWithBitRate({ variants = [], bytes, duration, loadedTimeRanges = [], state }) {
    if (variants.length !== 1 || variants[0].bandwidth > 0) return variants;
    const loaded = loadedTimeRanges.reduce((sum, [start, end]) => sum + end - start, 0);
    const seconds = state === 'complete' ? duration : loaded;
    return seconds > 0 ? [{ ...variants[0], bandwidth: bytes * 8 / seconds }] : variants;
}

/** Formats up to three variants as a list and more as a count and a range, which limits the height of the row. */
function formatVariants(variants = []) {
    if (variants.length === 0) return '–';
    const sorted = variants.toSorted((one, other) => one.bandwidth - other.bandwidth);
    if (sorted.length <= 3) return sorted.map(formatVariant).filter(Boolean).join(',\n') || '–';
    const ends = [sorted[0], sorted.at(-1)].map((variant) => formatResolution(variant) || formatVariant(variant));
    return `${sorted.length} variants, ${ends.join(' to ')}`;
}

function formatLanguages(tags = []) {
    return tags.map(formatLanguage).join(', ');
}

function formatRanges(ranges = []) {
    const first = ranges.slice(0, 3).map(([start, end]) => `${formatTime(start)} to ${formatTime(end)}`).join(', ');
    return first && `Downloaded: ${first}${ranges.length > 3 ? ' and more' : ''}`;
}
