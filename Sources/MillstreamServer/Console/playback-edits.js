// The panel of edits. They belong to the selected stream; any change reloads it.

import { AddedEdits } from './added-edits.js';
import { fetchEdits, fetchRefusal, fetchRequiresSignature, fetchSignedURL, inspectStream } from './api.js';
import { createEditControl } from './edit-controls.js';
import { createElement, setHidden, setText, setTextOrHide } from './element.js';
import { errorDescription, errorMessage } from './error-message.js';
import { formatBitRate, formatResolution } from './format.js';
import { showMessage } from './messages.js';
import { bandwidthRange, playbackURL } from './playback-url.js';
import { PreviewDuration } from './preview-duration.js';
import { VariantList } from './variant-list.js';

const find = (id) => document.getElementById(id);

/** What a person has to know of each delivery of segments but the default one. */
const segmentsNotes = {
    direct: 'The playlists have the URLs of the origin. The server sees no requests for segments, so tokens, other origins and simulated faults do not apply to them.',
    proxy: 'All segments pass through this server, as a simulated network requires.',
};

/** What applies to every delivery while the page plays the stream. */
const pageNote = 'This page plays the stream itself, and receives the segments from this server, which converts them. '
    + 'The selection applies to players of the playback URL.';

/** The names of the edits whose controls are always visible; all others are in “More edits”. */
const prominentEdits = ['append'];

/**
 * Each edit of the server has a control. The page itself has the controls for `bandwidth` and `duration`, which offer the
 * variants of the stream and common durations; all others are derived from the definitions of the server. The user can add further
 * edits, which are applied after those of the controls.
 *
 * Events: `change` when the user has changed an edit; `file` when the stream turns out to be a media file; `languages` with `{audio, subtitles}`, arrays of language tags or
 * names, when the languages of the stream are known.
 */
export class PlaybackEdits extends EventTarget {
    #minimum = find('quality-minimum');
    #maximum = find('quality-maximum');
    #preview = new PreviewDuration();
    #controls = [];
    #added = new AddedEdits();
    // The maximum number of edits that the server applies.
    #maximumCount = Infinity;
    #isFixed = false;
    #segments = find('segments');
    // Whether redundant variants stay is a parameter of the playback URL, and no edit: the result depends on the time.
    #redundant = find('redundant');
    #variantList = new VariantList(find('variants'));
    #store;
    #inspectionCount = 0;
    #selection;
    #source;
    #hasInspectionFailed = false;
    // The values of the last `change` event or reset, as JSON.
    #applied;
    #isPlayedByPage = false;
    /** Whether the server admits only playback URLs that it has signed. */
    requiresSignature = false;

    constructor(store) {
        super();
        this.#store = store;
        find('edits').addEventListener('submit', (event) => event.preventDefault());
        this.#minimum.addEventListener('change', () => this.#limitQuality(this.#minimum, this.#maximum));
        this.#maximum.addEventListener('change', () => this.#limitQuality(this.#maximum, this.#minimum));
        this.#preview.addEventListener('change', () => this.#handleChange());
        this.#segments.addEventListener('change', () => this.#handleChange());
        this.#redundant.addEventListener('change', () => this.#handleChange());
        this.#added.addEventListener('change', () => this.#handleChange());
        this.#added.addEventListener('add', ({ detail: control }) => {
            this.#checkStreams(control);
            control.updateStreams?.(this.#store);
        });
    }

    /** Loads the definitions of the edits, and creates their controls. */
    async load() {
        // After a reconnection, the controls have values that must not be lost.
        if (this.#controls.length > 0) return;
        const [{ edits, limits }, requiresSignature] = await Promise.all([fetchEdits(), fetchRequiresSignature()]);
        this.requiresSignature = requiresSignature;
        if (this.#controls.length > 0) return;
        this.#controls = edits.map((definition) => this.#ownControl(definition) ?? createEditControl(definition));
        const derived = this.#controls.filter(({ node }) => node);
        const isProminent = ({ definition }) => prominentEdits.includes(definition.name);
        find('prominent-edits').replaceChildren(...derived.filter(isProminent).map(({ node }) => node));
        const more = derived.filter((control) => !isProminent(control)).map(({ node }) => node);
        find('more-edits-controls').replaceChildren(...more);
        setHidden(find('more-edits'), more.length === 0);
        for (const control of derived) {
            control.node.addEventListener('change', () => this.#handleChange());
            this.#checkStreams(control);
        }
        this.#added.load(edits);
        this.#maximumCount = limits.edits;
        this.#updateCount();
        this.updateStreams();
        this.#updateDisabled();
    }

    /** Lets the menu of a control ask which streams can be used. */
    #checkStreams({ definition, checkStreams }) {
        checkStreams?.((value) => this.#findRefusal(definition.name, value));
    }

    #updateCount() {
        const ofCatalog = this.#selection?.edits.length ?? 0;
        const own = this.#controls.filter(({ value }) => value() !== undefined).length;
        // Each added edit counts: it can be completed at any time.
        this.#added.setCount(ofCatalog + own + this.#added.controls.length, this.#maximumCount);
    }

    #updateDisabled() {
        this.#added.isFixed = this.#isFixed;
        const fields = this.#controls.flatMap((control) => control.fields);
        for (const field of [...fields, this.#segments, this.#redundant]) field.disabled = this.#isFixed;
    }

    #ownControl(definition) {
        switch (definition.name) {
        case 'bandwidth':
            return {
                definition,
                fields: [this.#minimum, this.#maximum],
                value: () => bandwidthRange(this.#minimum.value, this.#maximum.value) || undefined,
                // The variants are replaced, and with them the limits.
                reset: () => {},
            };
        case 'duration':
            return { definition, fields: [], value: () => this.#preview.seconds || undefined, reset: () => {} };
        default:
            return undefined;
        }
    }

    /**
     * The settings for the playback URL: `edits` is an array of names and values in the order of their application,
     * `segments` how players receive the segments: `direct`, `proxy`, or empty for redirects; `redundant` which redundant variants
     * stay: `available`, or empty for all.
     */
    get values() {
        const edits = [...this.#controls, ...this.#added.controls].map(({ definition, value }) => [definition.name, value()])
            .filter(([, value]) => value !== undefined);
        return { edits, segments: this.#segments.value, redundant: this.#redundant.value };
    }

    get #limits() {
        return { minimumBandwidth: this.#minimum.value, maximumBandwidth: this.#maximum.value };
    }

    /** Resets the edits for another stream. The delivery of segments stays, since it is not an edit of the content. */
    reset(selection) {
        const isOffline = selection.origin === 'offline';
        const isFixed = isOffline || selection.isFile;
        this.#preview.reset(isFixed);
        for (const control of this.#controls) control.reset();
        this.#added.reset();
        this.#redundant.value = '';
        this.#showRedundantNote();
        this.#showVariants([]);
        this.#applied = JSON.stringify(this.values);
        this.#isFixed = isFixed;
        this.#updateDisabled();
        setText(find('edits-note'), isOffline
            ? 'An offline copy cannot be edited. Play the stream from its origin to edit it.'
            : selection.isFile ? 'A media file has no playlist that could be edited.'
            : 'The server edits the playlists, so the edits apply in every player.');
        this.#selection = selection;
        this.#updateCount();
        this.#source = isFixed ? undefined : selection.source;
        this.#hasInspectionFailed = false;
        this.#inspectionCount += 1;
        if (isOffline) {
            this.#showVariants(selection.variants ?? []);
            this.#dispatchLanguages(selection.audio, selection.subtitles);
        } else {
            this.#dispatchLanguages();
            if (!isFixed) this.#inspect(this.#inspectionCount);
        }
    }

    /** Shows why the server refuses the edits next to the control of the edit with which the text begins, or nothing. */
    showRefusal(text) {
        const controls = [...this.#controls, ...this.#added.controls].filter(({ showError }) => showError);
        if (!text) {
            // A value that the field itself refuses is not in the playback URL.
            for (const { fields, showError } of controls) if (fields[0].validity.valid) showError(undefined);
            return;
        }
        const name = text.match(/^[^ :]+/)?.[0].toLowerCase();
        const refused = controls.filter(({ definition, value }) => definition.name === name && value() !== undefined);
        // Which of several edits with the same name is refused is in no text, but in most cases it is the last one.
        const quoted = refused.findLast(({ value }) => text.includes(`"${value()}"`));
        (quoted ?? refused.at(-1))?.showError(text);
    }

    /** Inspects the stream again if the last inspection failed. */
    retryInspection() {
        if (!this.#source || !this.#hasInspectionFailed) return;
        this.#inspectionCount += 1;
        this.#inspect(this.#inspectionCount);
    }

    /** Enables the proxy for segments. */
    enableProxy() {
        this.#segments.value = 'proxy';
        this.#handleChange();
    }

    /** The language to which audio renditions are limited; empty for all. */
    get audioLanguage() {
        return this.#audioLanguages?.value ?? '';
    }

    /** Limits audio renditions to a language; an empty text removes the limit. The stream is loaded again. */
    set audioLanguage(language) {
        const field = this.#audioLanguages;
        if (!field || field.value === language) return;
        field.value = language;
        this.#handleChange();
    }

    /** Whether audio renditions can be limited to a language. */
    get selectsAudio() {
        return Boolean(this.#audioLanguages) && !this.#isFixed;
    }

    get #audioLanguages() {
        return this.#controls.find(({ definition }) => definition.name === 'audio-languages')?.fields[0];
    }

    /** Sets whether the page plays the stream, by Media Source Extensions; the browser plays it otherwise. */
    set isPlayedByPage(isPlayedByPage) {
        this.#isPlayedByPage = isPlayedByPage;
        this.#showSegmentsNote();
    }

    #showSegmentsNote() {
        const notes = [segmentsNotes[this.#segments.value], this.#isPlayedByPage && !this.#isFixed ? pageNote : undefined];
        setTextOrHide(find('segments-note'), notes.filter(Boolean).join(' '));
    }

    #showRedundantNote() {
        setHidden(find('redundant-note'), !this.#redundant.value);
    }

    /** Updates the streams that edits can insert. */
    updateStreams() {
        for (const control of [...this.#controls, ...this.#added.controls]) control.updateStreams?.(this.#store);
    }

    /** Marks the variant with the resolution of the video. */
    markPlayingVariant(width, height) {
        this.#variantList.markPlaying(width, height);
    }

    /** Returns why the server cannot stitch another stream to this one by an edit; `undefined` if it can, or if that is not known. */
    async #findRefusal(name, value) {
        if (!this.#source) return undefined;
        try {
            const url = playbackURL(this.#selection, { edits: [[name, value]] });
            const admitted = this.requiresSignature ? await fetchSignedURL(url, { isFile: false }) : url;
            const error = await fetchRefusal(admitted);
            return error?.code === 'cannot-stitch' ? errorMessage({ code: error.code, message: error.message }) : undefined;
        } catch {
            // Playback of the edited stream tells the cause.
            return undefined;
        }
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
        if (report.kind === 'file') {
            this.dispatchEvent(new Event('file'));
            return;
        }
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
        const unique = (tags) => [...new Set(tags.filter(Boolean))];
        const detail = { audio: unique(audio), subtitles: unique(subtitles) };
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
        this.#variantList.show(variants, this.#limits);
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
        this.#variantList.updateLimits(this.#limits);
        this.#showSegmentsNote();
        this.#showRedundantNote();
        this.#updateCount();
        // A control that is not complete yet changes nothing.
        const values = JSON.stringify(this.values);
        if (values === this.#applied) return;
        this.#applied = values;
        this.dispatchEvent(new Event('change'));
    }
}
