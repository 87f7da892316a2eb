// The card of a stream in the catalog.

import { ActionBar } from './action-bar.js';
import { assetState, downloadedPercent, downloadedText, downloadErrorMessage, elsewhereText } from './asset-state.js';
import { copyPlaybackURL } from './copy-url.js';
import { downloadActions } from './download-actions.js';
import { DownloadProgress } from './download-progress.js';
import {
    createElement, createIcon, setAttribute, setHidden, setText, setTextOrHide, setTextWithURLsOrHide,
} from './element.js';
import { formatPercent, hueForName, initials } from './format.js';

const kindNames = { hls: 'HLS', dash: 'DASH', file: 'File' };

/** Returns the text of the badge, which is empty for a stream that is not downloaded. */
function badgeText(state, asset) {
    // A recording has no total.
    const percent = asset && !asset.recording ? downloadedPercent(asset) : null;
    const percentText = percent === null ? '' : ` ${formatPercent(percent)}`;
    switch (state) {
    case 'remote': return '';
    case 'downloaded': return downloadedText(asset);
    case 'downloading': return elsewhereText(asset, 'Downloading') + percentText;
    case 'recording': return elsewhereText(asset, 'Recording');
    case 'waiting': return elsewhereText(asset, 'Waiting') + percentText;
    case 'paused': return elsewhereText(asset, 'Paused') + percentText;
    case 'failed': return asset.bytes > 0 && percentText ? `Failed at${percentText}` : 'Failed';
    default: return `Incomplete${percentText}`;
    }
}

export class StreamCard {
    element;
    #stream;
    #asset;
    #image = createElement('img', { alt: '', loading: 'lazy', decoding: 'async' });
    #initials = createElement('span', { class: 'initials', 'aria-hidden': 'true' });
    #badge = createElement('span', { class: 'badge' });
    #name = createElement('h3');
    #kind = createElement('span', { class: 'tag' });
    #advertisement = createElement('span', { class: 'tag advertisement', text: 'Advertisement' });
    #playing = createElement('span', { class: 'tag playing', text: 'Playing' });
    #detail = createElement('p', { class: 'detail' });
    #addresses = createElement('p', { class: 'addresses' });
    #playlistLink = createElement('a', { text: 'Copy HLS URL' });
    #manifestLink = createElement('a', { text: 'Copy DASH URL' });
    #error = createElement('p', { class: 'error' });
    #progress = new DownloadProgress();
    #actionBar;

    constructor(id, actions) {
        const perform = (action) => actions.perform(action, { stream: this.#stream, asset: this.#asset });
        this.#actionBar = new ActionBar(['play-offline', 'play', 'download', 'resume', 'pause', 'cancel', 'delete'], perform);
        this.#name.id = `stream-name-${id}`;
        this.#image.addEventListener('load', () => this.#image.classList.add('loaded'));
        this.#image.addEventListener('error', () => this.#image.classList.remove('loaded'));
        this.#addresses.append(this.#playlistLink, this.#manifestLink);
        for (const link of [this.#playlistLink, this.#manifestLink]) {
            link.addEventListener('click', (event) => {
                event.preventDefault();
                copyPlaybackURL(link.getAttribute('href'));
            });
        }
        // A large target for the pointer only; the buttons provide the same for the keyboard and screen readers.
        const poster = createElement('div', { class: 'poster', onclick: () => this.#playPreferred(perform) },
            this.#initials, this.#image,
            createElement('span', { class: 'play-overlay', 'aria-hidden': 'true' }, createIcon('play')), this.#badge);
        const properties = { class: 'card', dataset: { streamId: id }, 'aria-labelledby': this.#name.id };
        this.element = createElement('article', properties,
            poster,
            createElement('div', { class: 'card-body' },
                this.#name,
                createElement('p', { class: 'tags' }, this.#kind, this.#advertisement, this.#playing),
                this.#detail, this.#addresses, this.#progress.element, this.#error,
                this.#actionBar.element));
    }

    update({ stream, asset, downloadSpeed, size, isPlaying }) {
        this.#stream = stream;
        this.#asset = asset;
        const state = assetState(asset);
        setAttribute(this.element, 'data-state', state);
        this.element.style.setProperty('--hue', hueForName(stream.name));
        if (stream.poster) setAttribute(this.#image, 'src', stream.poster);
        setHidden(this.#image, !stream.poster);
        setText(this.#initials, initials(stream.name));
        setTextOrHide(this.#badge, badgeText(state, asset));
        setText(this.#name, stream.name);
        setText(this.#kind, stream.channel ? 'Channel' : kindNames[stream.kind] ?? stream.kind);
        setHidden(this.#advertisement, !stream.advertisement);
        setHidden(this.#playing, !isPlaying);
        setTextOrHide(this.#detail, stream.detail);
        // Only channels have both URLs, so that players of HLS and of DASH can be tested with the same live stream.
        setHidden(this.#addresses, !stream.manifestAddress);
        if (stream.manifestAddress) this.#updateLinks(stream);
        setTextWithURLsOrHide(this.#error, downloadErrorMessage(asset));
        this.#progress.update(state === 'downloading' ? asset : undefined, stream.name, downloadSpeed, size);
        this.#actionBar.update(this.#availableActions(state));
    }

    #updateLinks({ name, address, manifestAddress }) {
        setAttribute(this.#playlistLink, 'href', address);
        setAttribute(this.#playlistLink, 'aria-label', `Copy the HLS URL of ${name}`);
        setAttribute(this.#manifestLink, 'href', manifestAddress);
        setAttribute(this.#manifestLink, 'aria-label', `Copy the DASH URL of ${name}`);
    }

    #availableActions(state) {
        const { name } = this.#stream;
        const playableOffline = Boolean(this.#asset?.playableOffline);
        const actions = {};
        if (playableOffline) {
            const primary = state === 'downloaded';
            actions['play-offline'] = { label: 'Play offline', name: `Play offline copy of ${name}`, primary };
        }
        const primary = state !== 'downloaded' || !playableOffline;
        actions.play = { label: 'Play', name: this.#stream.channel ? `Play the channel ${name}` : `Play ${name} from its origin`, primary };
        // A download has the stream at its origin, without the edits of the catalog.
        if (state === 'remote' && this.#stream.edits.length === 0) actions.download = { label: 'Download', name: `Download ${name}` };
        Object.assign(actions, downloadActions(this.#asset, name));
        if (this.#asset) actions.delete = { label: 'Delete', name: `Delete the offline copy of ${name}` };
        return actions;
    }

    #playPreferred(perform) {
        if (assetState(this.#asset) === 'downloaded' && this.#asset.playableOffline) perform('play-offline');
        else perform('play');
    }
}
