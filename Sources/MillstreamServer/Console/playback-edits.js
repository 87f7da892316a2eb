// The panel of edits. They belong to the selected stream; any change reloads it.

import { inspectStream } from './api.js';
import { createElement, setText, setTextOrHide } from './element.js';
import { errorDescription } from './error-message.js';
import { formatBitRate, formatLanguage, formatResolution } from './format.js';
import { showMessage } from './messages.js';
import { PreviewDuration } from './preview-duration.js';
import { VariantList } from './variant-list.js';

const find = (id) => document.getElementById(id);

/**
 * Events: `change` when the user has changed an edit; `languages` with `{audio, subtitles}`, arrays of language names,
 * when the languages of the stream are known.
 */
export class PlaybackEdits extends EventTarget {
    #minimum = find('quality-minimum');
    #maximum = find('quality-maximum');
    #preview = new PreviewDuration();
    #append = find('append');
    #proxy = find('proxy');
    #variantList = new VariantList(find('variants'));
    #store;
    #inspectionCount = 0;
    #source;
    #hasInspectionFailed = false;
    #appendOptions = '';

    constructor(store) {
        super();
        this.#store = store;
        find('edits').addEventListener('submit', (event) => event.preventDefault());
        this.#minimum.addEventListener('change', () => this.#limitQuality(this.#minimum, this.#maximum));
        this.#maximum.addEventListener('change', () => this.#limitQuality(this.#maximum, this.#minimum));
        this.#preview.addEventListener('change', () => this.#handleChange());
        this.#append.addEventListener('change', () => this.#handleChange());
        this.#proxy.addEventListener('change', () => this.#handleChange());
    }

    /** The edits as parameters of the playback URL. */
    get values() {
        return {
            minimumBandwidth: this.#minimum.value,
            maximumBandwidth: this.#maximum.value,
            duration: this.#preview.seconds,
            append: this.#store.stream(this.#append.value)?.url ?? '',
            proxy: this.#proxy.checked,
        };
    }

    /** Resets the edits for another stream. The proxy stays enabled, since it is not an edit of the content. */
    reset(selection) {
        const isOffline = selection.origin === 'offline';
        this.#preview.reset(isOffline);
        this.#append.value = '';
        this.#showVariants([]);
        for (const field of [this.#minimum, this.#maximum, this.#append, this.#proxy]) field.disabled = isOffline;
        setText(find('edits-note'), isOffline
            ? 'An offline copy cannot be edited. Play the stream from its origin to edit it.'
            : 'The server edits the playlists, so the edits apply in every player.');
        this.#source = isOffline ? undefined : selection.source;
        this.#hasInspectionFailed = false;
        this.#inspectionCount += 1;
        if (isOffline) {
            this.#showVariants(selection.variants ?? []);
            this.#dispatchLanguages(selection.audio, selection.subtitles);
        } else {
            this.#dispatchLanguages();
            this.#inspect(this.#inspectionCount);
        }
    }

    /** Inspects the stream again if the last inspection failed. */
    retryInspection() {
        if (!this.#source || !this.#hasInspectionFailed) return;
        this.#inspectionCount += 1;
        this.#inspect(this.#inspectionCount);
    }

    /** Enables the proxy for segments. */
    enableProxy() {
        this.#proxy.checked = true;
        this.#handleChange();
    }

    /** Updates the streams that can be appended. */
    updateAppendOptions() {
        const streams = this.#store.streams.filter((stream) => stream.kind === 'hls');
        const fields = streams.map(({ id, name, advertisement }) => [id, name, Boolean(advertisement)]);
        const options = JSON.stringify(fields);
        // Replaced only if they differ, because that closes an open menu.
        if (options === this.#appendOptions) return;
        this.#appendOptions = options;
        const selected = this.#append.value;
        const group = (label, members) => members.length === 0 ? [] : [createElement('optgroup', { label },
            ...members.map(({ id, name }) => createElement('option', { value: id, text: name })))];
        this.#append.replaceChildren(
            createElement('option', { value: '', text: 'None' }),
            ...group('Advertisements', streams.filter((stream) => stream.advertisement)),
            ...group('Streams', streams.filter((stream) => !stream.advertisement)),
        );
        if (streams.some(({ id }) => id === selected)) this.#append.value = selected;
    }

    /** Marks the variant with the resolution of the video. */
    markPlayingVariant(width, height) {
        this.#variantList.markPlaying(width, height);
    }

    async #inspect(inspection) {
        const note = find('variants-note');
        setTextOrHide(note, 'Loading variants…');
        let report = {};
        let failure;
        try {
            report = await inspectStream(this.#source);
        } catch (error) {
            failure = error;
        }
        if (inspection !== this.#inspectionCount) return;
        this.#hasInspectionFailed = Boolean(failure);
        const { variants = [], renditions = [] } = report;
        this.#showVariants(variants);
        setTextOrHide(note, failure ? `The variants could not be loaded. ${errorDescription(failure).message}`
            : variants.length === 0 ? 'This stream has a single quality.' : '');
        const languages = (type) => renditions.filter((rendition) => rendition.type === type)
            .map(({ language, name }) => language ?? name);
        this.#dispatchLanguages(languages('AUDIO'), languages('SUBTITLES'));
    }

    #dispatchLanguages(audio = [], subtitles = []) {
        const names = (tags) => [...new Set(tags.filter(Boolean).map(formatLanguage))];
        const detail = { audio: names(audio), subtitles: names(subtitles) };
        this.dispatchEvent(new CustomEvent('languages', { detail }));
    }

    #showVariants(variants) {
        setTextOrHide(find('variants-note'), '');
        // Variants that differ only in audio or codecs can have the same bandwidth, and so the same limit.
        const bandwidths = new Map(variants.map((variant) => [variant.bandwidth, variant]));
        const sorted = [...bandwidths.values()].toSorted((one, other) => one.bandwidth - other.bandwidth);
        for (const select of [this.#minimum, this.#maximum]) {
            select.replaceChildren(
                createElement('option', { value: '', text: 'No limit' }),
                ...sorted.map((variant) => createElement('option', {
                    value: variant.bandwidth,
                    text: [formatResolution(variant), formatBitRate(variant.bandwidth)].filter(Boolean).join(' · '),
                })),
            );
        }
        this.#variantList.show(variants, this.values);
    }

    #limitQuality(changed, other) {
        const [minimum, maximum] = [Number(this.#minimum.value), Number(this.#maximum.value)];
        if (minimum && maximum && minimum > maximum) {
            other.value = changed.value;
            showMessage('The minimum and the maximum quality are now the same.');
        }
        this.#handleChange();
    }

    #handleChange() {
        this.#variantList.updateLimits(this.values);
        this.dispatchEvent(new Event('change'));
    }
}
