// One stream of the catalogue.

import { ActionBar } from './action-bar.js';
import { percentOf, problemOf, stateOf } from './asset-state.js';
import { element, icon, setAttribute, setHidden, setProseOrHide, setText, setTextOrHide } from './element.js';
import { hueOf, initialsOf, percentText } from './format.js';
import { ProgressLine } from './progress-line.js';

const kindNames = { hls: 'HLS', dash: 'DASH', file: 'File' };

/** Why a stream cannot be played or downloaded from its origin; nothing when it can. */
function obstacle(stream) {
    if (stream.kind === 'hls') return undefined;
    return stream.kind === 'dash' ? 'DASH cannot be played or downloaded here yet.'
        : 'Plain files cannot be played or downloaded here yet.';
}

function badgeText(state, asset) {
    const percent = asset ? percentOf(asset) : null;
    const share = percent === null ? '' : ` ${percentText(percent)}`;
    switch (state) {
    case 'remote': return 'Remote';
    case 'kept': return 'Kept';
    case 'downloading': return `Downloading${share}`;
    case 'failed': return asset.bytes > 0 ? `Failed · partly kept${share}` : 'Failed';
    default: return `Partly kept${share}`;
    }
}

export class StreamCard {
    element;
    #stream;
    #asset;
    #image = element('img', { alt: '', loading: 'lazy', decoding: 'async' });
    #initials = element('span', { class: 'initials', 'aria-hidden': 'true' });
    #badge = element('span', { class: 'badge' });
    #name = element('h3');
    #kind = element('span', { class: 'tag' });
    #advertisement = element('span', { class: 'tag advertisement', text: 'Advertisement' });
    #playing = element('span', { class: 'tag playing', text: 'Playing' });
    #detail = element('p', { class: 'detail' });
    #reason = element('p', { class: 'reason' });
    #problem = element('p', { class: 'problem' });
    #progress = new ProgressLine();
    #bar;

    constructor(id, actions) {
        const perform = (action) => actions.perform(action, { stream: this.#stream, asset: this.#asset });
        this.#bar = new ActionBar(['play-kept', 'play', 'download', 'resume', 'cancel', 'delete'], perform);
        this.#name.id = `stream-name-${id}`;
        this.#reason.id = `stream-reason-${id}`;
        this.#image.addEventListener('load', () => this.#image.classList.add('loaded'));
        this.#image.addEventListener('error', () => this.#image.classList.remove('loaded'));
        // A large target for the pointer; by keyboard and screen reader the buttons say the same.
        const picture = element('div', { class: 'picture', onclick: () => this.#playBest(perform) },
            this.#initials, this.#image,
            element('span', { class: 'over', 'aria-hidden': 'true' }, icon('play')), this.#badge);
        const properties = { class: 'card', dataset: { streamId: id }, 'aria-labelledby': this.#name.id };
        this.element = element('article', properties,
            picture,
            element('div', { class: 'body' },
                this.#name,
                element('p', { class: 'tags' }, this.#kind, this.#advertisement, this.#playing),
                this.#detail, this.#progress.element, this.#problem, this.#reason, this.#bar.element));
    }

    update({ stream, asset, pace, playing }) {
        this.#stream = stream;
        this.#asset = asset;
        const state = stateOf(asset);
        const reason = obstacle(stream);
        setAttribute(this.element, 'data-state', state);
        setAttribute(this.element, 'data-playable', String(!reason || Boolean(asset?.playableOffline)));
        this.element.style.setProperty('--hue', hueOf(stream.name));
        if (stream.poster) setAttribute(this.#image, 'src', stream.poster);
        setHidden(this.#image, !stream.poster);
        setText(this.#initials, initialsOf(stream.name));
        setText(this.#badge, badgeText(state, asset));
        setText(this.#name, stream.name);
        setText(this.#kind, kindNames[stream.kind] ?? stream.kind);
        setHidden(this.#advertisement, !stream.advertisement);
        setHidden(this.#playing, !playing);
        setTextOrHide(this.#detail, stream.detail);
        setTextOrHide(this.#reason, reason);
        setAttribute(this.element, 'aria-describedby', reason && this.#reason.id);
        setProseOrHide(this.#problem, problemOf(asset));
        this.#progress.update(state === 'downloading' ? asset : undefined, stream.name, pace);
        this.#bar.update(this.#shownActions(state, reason));
    }

    #shownActions(state, reason) {
        const { name } = this.#stream;
        const kept = Boolean(this.#asset?.playableOffline);
        const shown = {};
        if (kept) {
            const primary = state === 'kept';
            shown['play-kept'] = { label: 'Play kept copy', name: `Play kept copy of ${name}`, primary };
        }
        if (!reason) {
            const primary = state !== 'kept' || !kept;
            shown.play = { label: 'Play', name: `Play ${name} from its origin`, primary };
            if (state === 'remote') shown.download = { label: 'Download', name: `Download ${name}` };
            if (state === 'partial') shown.resume = { label: 'Resume', name: `Resume the download of ${name}` };
            if (state === 'failed') shown.resume = { label: 'Try again', name: `Try again to download ${name}` };
        }
        if (state === 'downloading') shown.cancel = { label: 'Cancel', name: `Cancel the download of ${name}` };
        if (this.#asset) shown.delete = { label: 'Delete', name: `Delete the kept copy of ${name}` };
        return shown;
    }

    #playBest(perform) {
        if (stateOf(this.#asset) === 'kept' && this.#asset.playableOffline) perform('play-kept');
        else if (!obstacle(this.#stream)) perform('play');
    }
}
