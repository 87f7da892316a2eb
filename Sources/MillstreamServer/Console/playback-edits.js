// The panel of edits. They belong to the stream that was chosen; a change of any plays it again.

import { inspect } from './api.js';
import { element, setText, setTextOrHide } from './element.js';
import { bitRateText, heightText, languageText } from './format.js';
import { PreviewLimit } from './preview-limit.js';
import { accountOf } from './sentence.js';
import { announce } from './status.js';
import { VariantLadder } from './variant-ladder.js';

const find = (id) => document.getElementById(id);

/**
 * Events: `change` when a person changed an edit; `languages` with `{audio, subtitles}`, arrays of names, when it is
 * known what the stream has.
 */
export class PlaybackEdits extends EventTarget {
    #low = find('quality-low');
    #high = find('quality-high');
    #preview = new PreviewLimit();
    #append = find('append');
    #proxy = find('proxy');
    #ladder = new VariantLadder(find('variants'));
    #inventory;
    #inspection = 0;
    #source;
    #hasFailed = false;
    #appendChoices = '';

    constructor(inventory) {
        super();
        this.#inventory = inventory;
        find('edits').addEventListener('submit', (event) => event.preventDefault());
        this.#low.addEventListener('change', () => this.#limit(this.#low, this.#high));
        this.#high.addEventListener('change', () => this.#limit(this.#high, this.#low));
        this.#preview.addEventListener('change', () => this.#changed());
        this.#append.addEventListener('change', () => this.#changed());
        this.#proxy.addEventListener('change', () => this.#changed());
    }

    /** The edits as the address wants them. */
    get values() {
        return {
            low: this.#low.value,
            high: this.#high.value,
            duration: this.#preview.seconds,
            append: this.#inventory.stream(this.#append.value)?.url ?? '',
            proxy: this.#proxy.checked,
        };
    }

    /** Starts afresh for another stream. The way of the segments stays: it is about the origin's rules, not a cut. */
    begin(selection) {
        const kept = selection.origin === 'kept';
        this.#preview.reset(kept);
        this.#append.value = '';
        this.#showVariants([]);
        for (const field of [this.#low, this.#high, this.#append, this.#proxy]) field.disabled = kept;
        setText(find('edits-note'), kept
            ? 'A kept copy is played as it is. Play the stream from its origin to edit it.'
            : 'The server makes them in the playlists, so every player gets them.');
        this.#source = kept ? undefined : selection.source;
        this.#hasFailed = false;
        this.#inspection += 1;
        if (kept) {
            this.#showVariants(selection.variants ?? []);
            this.#tellLanguages(selection.audio, selection.subtitles);
        } else {
            this.#tellLanguages();
            this.#inspect(this.#inspection);
        }
    }

    /** Reads the qualities after all, if that failed before. */
    inspectAgain() {
        if (!this.#source || !this.#hasFailed) return;
        this.#inspection += 1;
        this.#inspect(this.#inspection);
    }

    /** Sends the segments through the server from now on. */
    useProxy() {
        this.#proxy.checked = true;
        this.#changed();
    }

    /** Offers the streams that can be put behind this one. */
    showAppendChoices() {
        const streams = this.#inventory.streams.filter((stream) => stream.kind === 'hls');
        const parts = streams.map(({ id, name, advertisement }) => [id, name, Boolean(advertisement)]);
        const choices = JSON.stringify(parts);
        // Built again only when it differs: an open list would close.
        if (choices === this.#appendChoices) return;
        this.#appendChoices = choices;
        const chosen = this.#append.value;
        const group = (label, members) => members.length === 0 ? [] : [element('optgroup', { label },
            ...members.map(({ id, name }) => element('option', { value: id, text: name })))];
        this.#append.replaceChildren(
            element('option', { value: '', text: 'Nothing more' }),
            ...group('Advertisements', streams.filter((stream) => stream.advertisement)),
            ...group('Streams', streams.filter((stream) => !stream.advertisement)),
        );
        if (streams.some(({ id }) => id === chosen)) this.#append.value = chosen;
    }

    /** Marks the variant whose picture is shown. */
    showPicture(width, height) {
        this.#ladder.showPicture(width, height);
    }

    async #inspect(inspection) {
        const note = find('variants-note');
        setTextOrHide(note, 'Reading the qualities…');
        let report = {};
        let failure;
        try {
            report = await inspect(this.#source);
        } catch (error) {
            failure = error;
        }
        if (inspection !== this.#inspection) return;
        this.#hasFailed = Boolean(failure);
        const { variants = [], renditions = [] } = report;
        this.#showVariants(variants);
        setTextOrHide(note, failure ? `The qualities could not be read. ${accountOf(failure).message}`
            : variants.length === 0 ? 'This stream has one quality only.' : '');
        const languages = (type) => renditions.filter((rendition) => rendition.type === type)
            .map(({ language, name }) => language ?? name);
        this.#tellLanguages(languages('AUDIO'), languages('SUBTITLES'));
    }

    #tellLanguages(audio = [], subtitles = []) {
        const names = (codes) => [...new Set(codes.filter(Boolean).map(languageText))];
        const detail = { audio: names(audio), subtitles: names(subtitles) };
        this.dispatchEvent(new CustomEvent('languages', { detail }));
    }

    #showVariants(variants) {
        setTextOrHide(find('variants-note'), '');
        // Variants that differ only in their sound or codec share a bit rate; the limit is the same for them.
        const rates = new Map(variants.map((variant) => [variant.bandwidth, variant]));
        const sorted = [...rates.values()].toSorted((one, other) => one.bandwidth - other.bandwidth);
        for (const select of [this.#low, this.#high]) {
            select.replaceChildren(
                element('option', { value: '', text: 'No limit' }),
                ...sorted.map((variant) => element('option', {
                    value: variant.bandwidth,
                    text: [heightText(variant), bitRateText(variant.bandwidth)].filter(Boolean).join(' · '),
                })),
            );
        }
        this.#ladder.show(variants, this.values);
    }

    #limit(changed, other) {
        const [low, high] = [Number(this.#low.value), Number(this.#high.value)];
        if (low && high && low > high) {
            other.value = changed.value;
            announce('The lowest and the highest quality are now the same, as neither can pass the other.');
        }
        this.#changed();
    }

    #changed() {
        this.#ladder.showLimits(this.values);
        this.dispatchEvent(new Event('change'));
    }
}
