// The menus for audio and subtitles. Where a browser does not let a page select the audio of a playlist, the server leaves the
// other languages out.

import { createElement, setHidden, setTextOrHide } from './element.js';
import { formatLanguage, isLanguageName } from './format.js';

const find = (id) => document.getElementById(id);
const listFormat = new Intl.ListFormat('en');

export class TrackMenus {
    #video;
    #player;
    #edits;
    #audioMenu = find('audio');
    #subtitlesMenu = find('subtitles');
    #languages = { audio: [], subtitles: [] };
    // The languages that the user selected, which apply to the next streams as well; "" for no subtitles.
    #preferredAudio;
    #preferredSubtitles;

    /** `edits` reports the languages of the stream. */
    constructor(video, player, edits) {
        this.#video = video;
        this.#edits = edits;
        this.#player = player;
        player.addEventListener('tracks', () => this.#applyPreferences());
        this.#audioMenu.addEventListener('change', () => this.#selectAudio());
        this.#subtitlesMenu.addEventListener('change', () => this.#selectSubtitles());
        for (const tracks of [video.audioTracks, video.textTracks]) {
            tracks?.addEventListener('addtrack', () => this.#applyPreferences());
            tracks?.addEventListener('removetrack', () => this.#update());
            tracks?.addEventListener('change', () => this.#handleChange());
        }
        for (const event of ['loadedmetadata', 'emptied']) video.addEventListener(event, () => this.#update());
        edits.addEventListener('languages', ({ detail }) => {
            this.#languages = detail;
            this.#update();
        });
        // The field of the edit can be changed as well.
        edits.addEventListener('change', () => this.#update());
    }

    get #audioTracks() {
        const { audioTracks } = this.#player;
        return audioTracks.length > 0 ? audioTracks : [...(this.#video.audioTracks ?? [])];
    }

    get #subtitleTracks() {
        return [...this.#video.textTracks].filter(({ kind }) => kind === 'subtitles' || kind === 'captions');
    }

    /** Whether the languages of audio are selected by an edit, because the browser has no such selection. */
    get #editsAudio() {
        return this.#player.canPlay && this.#edits.selectsAudio && this.#audioTracks.length < 2 && this.#languages.audio.length > 1;
    }

    /** Shows one subtitle track only: a browser may have selected another one for the new stream. */
    #handleChange() {
        const shown = this.#subtitleTracks.filter(({ mode }) => mode === 'showing');
        if (shown.length > 1) this.#showSubtitles(shown.find(({ language }) => language === this.#preferredSubtitles) ?? shown[0]);
        this.#update();
    }

    #selectAudio() {
        if (this.#editsAudio) {
            this.#edits.audioLanguage = ['', ...this.#languages.audio][this.#audioMenu.selectedIndex] ?? '';
            return;
        }
        const track = this.#audioTracks[this.#audioMenu.selectedIndex];
        this.#preferredAudio = track?.language;
        this.#enableAudio(track);
    }

    #enableAudio(selected) {
        const { audioTracks } = this.#player;
        if (audioTracks.length > 0) {
            this.#player.selectAudio(audioTracks.indexOf(selected));
            return;
        }
        // Enables the track before it disables the others: without any track, the browser may select one itself.
        if (selected) selected.enabled = true;
        for (const track of this.#audioTracks) if (track !== selected) track.enabled = false;
    }

    #selectSubtitles() {
        const track = this.#subtitleTracks[this.#subtitlesMenu.selectedIndex - 1];
        this.#preferredSubtitles = track?.language ?? '';
        this.#showSubtitles(track);
    }

    #showSubtitles(selected) {
        for (const track of this.#subtitleTracks) track.mode = track === selected ? 'showing' : 'disabled';
    }

    /** Selects tracks in the preferred languages as soon as the stream has them. */
    #applyPreferences() {
        const audio = this.#audioTracks.find(({ language }) => language && language === this.#preferredAudio);
        if (audio && !audio.enabled) this.#enableAudio(audio);
        const subtitles = this.#subtitleTracks.find(({ language }) =>
            language && language === this.#preferredSubtitles);
        if (subtitles && subtitles.mode !== 'showing') this.#showSubtitles(subtitles);
        this.#update();
    }

    #update() {
        const [audio, subtitles] = [this.#audioTracks, this.#subtitleTracks];
        const editsAudio = this.#editsAudio;
        if (editsAudio) {
            const { audio: languages } = this.#languages;
            setOptions(this.#audioMenu, ['Default', ...languages.map(formatLanguage)],
                1 + languages.indexOf(this.#edits.audioLanguage));
        } else {
            setOptions(this.#audioMenu, audio.map((track, index) => trackName(track, `Audio ${index + 1}`)),
                audio.findIndex(({ enabled }) => enabled));
        }
        setOptions(this.#subtitlesMenu,
            ['Off', ...subtitles.map((track, index) => trackName(track, `Subtitles ${index + 1}`))],
            1 + subtitles.findIndex(({ mode }) => mode === 'showing'));
        setHidden(find('audio-row'), audio.length < 2 && !editsAudio);
        setHidden(find('subtitles-row'), subtitles.length === 0);
        setTextOrHide(find('tracks-note'), this.#noteText(audio, subtitles));
        setHidden(find('tracks'), find('audio-row').hidden && subtitles.length === 0 && find('tracks-note').hidden);
    }

    #noteText(audioTracks, subtitleTracks) {
        // The tracks are not known before the metadata is loaded.
        if (!this.#player.canPlay || this.#video.readyState === HTMLMediaElement.HAVE_NOTHING) return '';
        const notes = [];
        const [audio, subtitles] = [this.#languages.audio, this.#languages.subtitles].map((tags) => tags.map(formatLanguage));
        if (audio.length > 1 && audioTracks.length < 2 && !this.#editsAudio) {
            notes.push(`Audio is available in ${listFormat.format(audio)}; this browser selects one automatically.`);
        }
        if (subtitles.length > 0 && subtitleTracks.length === 0) {
            const advice = this.#player.hasMediaSource && !this.#player.isPlayedByPage ? ' Play the stream by this page to see them.' : '';
            notes.push(`Subtitles are available in ${listFormat.format(subtitles)}; this browser does not show them.${advice}`);
        }
        return notes.join(' ');
    }
}

function setOptions(select, names, selectedIndex) {
    // Replaced only if they differ, because that closes an open menu.
    if (names.join('\n') !== [...select.options].map(({ text }) => text).join('\n')) {
        select.replaceChildren(...names.map((text) => createElement('option', { text })));
    }
    if (select.selectedIndex !== selectedIndex) select.selectedIndex = selectedIndex;
}

/**
 * Returns the name of a track: its language in English, as in all lists of the page, and the name that the stream gives to the track,
 * unless that is the name of the language in English or in the language itself.
 */
function trackName({ label, language }, defaultName) {
    if (!language) return label || defaultName;
    const name = formatLanguage(language);
    return !label || isLanguageName(label, language) ? name : `${name} (${label})`;
}
