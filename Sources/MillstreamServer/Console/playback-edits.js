// The panel of edits. They belong to the stream that was chosen; a change of any plays it again.

import { inspect, sentenceOf } from './api.js';
import { element, setHidden, setText, setTextOrHide } from './element.js';
import { bitRateText, heightText } from './format.js';
import { announce } from './status.js';
import { VariantLadder } from './variant-ladder.js';

const find = (id) => document.getElementById(id);

/** Event: `change` when a person changed an edit. */
export class PlaybackEdits extends EventTarget {
    #low = find('quality-low');
    #high = find('quality-high');
    #preview = find('preview');
    #custom = find('preview-custom');
    #append = find('append');
    #proxy = find('proxy');
    #ladder = new VariantLadder(find('variants'));
    #inventory;
    #inspection = 0;
    #appendChoices = '';

    constructor(inventory) {
        super();
        this.#inventory = inventory;
        find('edits').addEventListener('submit', (event) => event.preventDefault());
        this.#low.addEventListener('change', () => this.#limit(this.#low, this.#high));
        this.#high.addEventListener('change', () => this.#limit(this.#high, this.#low));
        this.#preview.addEventListener('change', () => this.#changePreview());
        this.#custom.addEventListener('change', () => this.#changePreview());
        this.#append.addEventListener('change', () => this.#changed());
        this.#proxy.addEventListener('change', () => this.#changed());
    }

    /** The edits as the address wants them. */
    get values() {
        const seconds = this.#preview.value === 'custom' ? this.#custom.valueAsNumber : Number(this.#preview.value);
        return {
            low: this.#low.value,
            high: this.#high.value,
            duration: seconds > 0 ? String(seconds) : '',
            append: this.#inventory.stream(this.#append.value)?.url ?? '',
            proxy: this.#proxy.checked,
        };
    }

    /** Starts afresh for another stream. The way of the segments stays: it is about the origin's rules, not a cut. */
    begin(selection) {
        this.#preview.value = '';
        this.#append.value = '';
        setHidden(find('preview-custom-row'), true);
        this.#showVariants([]);
        const kept = selection.origin === 'kept';
        const fields = [this.#low, this.#high, this.#preview, this.#custom, this.#append, this.#proxy];
        for (const field of fields) field.disabled = kept;
        setText(find('edits-note'), kept
            ? 'A kept copy is played as it is. Play the stream from its origin to edit it.'
            : 'The server makes them in the playlists, so every player gets them.');
        this.#inspection += 1;
        if (kept) this.#showVariants(selection.variants ?? []);
        else this.#inspect(selection.source, this.#inspection);
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

    async #inspect(source, inspection) {
        const note = find('variants-note');
        setTextOrHide(note, 'Reading the qualities…');
        let text = '';
        let variants = [];
        try {
            const report = await inspect(source);
            variants = report.variants ?? [];
            if (variants.length === 0) text = 'This stream has one quality only.';
        } catch (error) {
            text = `The qualities could not be read: ${sentenceOf(error)}`;
        }
        if (inspection !== this.#inspection) return;
        this.#showVariants(variants);
        setTextOrHide(note, text);
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
                    text: [bitRateText(variant.bandwidth), heightText(variant)].filter(Boolean).join(' · '),
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

    #changePreview() {
        const custom = this.#preview.value === 'custom';
        setHidden(find('preview-custom-row'), !custom);
        if (!custom || this.#custom.valueAsNumber > 0) this.#changed();
        else announce('The preview limit needs a number of seconds above 0.');
    }

    #changed() {
        this.#ladder.showLimits(this.values);
        this.dispatchEvent(new Event('change'));
    }
}
