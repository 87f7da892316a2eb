// The player: a video element, which plays HLS itself or by Media Source Extensions, and the stream selected for it.

import { fetchSignedURL } from './api.js';
import { delay, fetchPlaylist, playbackPath } from './browser-playback.js';
import { errorDescription, errorMessage } from './error-message.js';
import { MediaSourcePlayer } from './media-source-player.js';
import { MediaSourceClass } from './media-source-support.js';
import { dismissErrors, showError, showMessage } from './messages.js';
import { PageLinks } from './page-links.js';
import { diagnosePageError, diagnosePlaybackError } from './playback-diagnosis.js';
import { playbackURL, savedPlaylistURL, sharedConditions } from './playback-url.js';
import { fetchSimulatedConditions } from './simulated-network.js';
import { Subtitles } from './subtitles.js';

const hlsType = 'application/vnd.apple.mpegurl';
const reloadDelayMilliseconds = 300;
const conditionsPollMilliseconds = 500;

/**
 * Events: `select` when another stream is selected or the player is closed; `load` when a playback URL is loaded; `url` when the
 * URL for other players is known or changes; `gap` with `{start, end}` when the page has continued after a gap in the media;
 * `recovery` with `{action: "switch"|"skip"|"gap"|"incomplete"|"short", segment, error}` when it continues in another variant or after a
 * segment that cannot be played, or that is incomplete; `live` with `{state, seconds, isAtLiveEdge, error}` when a live stream that the
 * page plays is interrupted, continues or has begun anew; `error` when playback has failed, and again when it has recovered and the
 * `error` property is `undefined`; `tracks` when the audio tracks that the page itself plays are known or change; `method` when the
 * browser or the page begins to play.
 */
export class Player extends EventTarget {
    /** `{origin: "remote"|"offline", title, source, edits, poster, stream, isFile, asset, variants, audio, subtitles}`. */
    selection;
    /** The URL that is played: with the edits, and over a link of this page, whose network conditions can be changed. */
    url;
    /** The playback URL for other players, with the edits and the selected network conditions. */
    sharedURL;
    /** The URL of the playlist for a file, whose URIs are absolute. */
    savedURL;
    error;
    #edits;
    #networkConditions;
    #serverConditions;
    #links = new PageLinks();
    #video;
    #loadCount = 0;
    // The start position of the current load, since the video element reports 0 until it is reached.
    #startPosition = 0;
    #reloadTimer;
    // What plays the stream by Media Source Extensions; `undefined` if the browser plays it.
    #mediaSource;
    #usesMediaSource;
    #hasSelectedMethod = false;
    // The load of a live stream that the page plays, or has failed to play, because of its subtitles.
    #liveSubtitlesLoad;
    #subtitles;
    // Whether what is loaded at present has played.
    #hasPlayed = false;

    /** `edits` and `networkConditions` are the panels whose values become part of the playback URL. */
    constructor(video, edits, networkConditions, serverConditions) {
        super();
        this.#video = video;
        this.#edits = edits;
        this.#networkConditions = networkConditions;
        this.#serverConditions = serverConditions;
        networkConditions.addEventListener('change', () => this.#applyConditions());
        serverConditions.addEventListener('change', () => this.#followConditions());
        /** Whether the browser itself plays HLS. */
        this.playsHLS = video.canPlayType(hlsType) !== '';
        /** Whether the page plays HLS in browsers that do not, and in others if that is selected. */
        this.hasMediaSource = MediaSourceClass !== undefined;
        this.#usesMediaSource = !this.playsHLS && this.hasMediaSource;
        this.#subtitles = new Subtitles(video);
        edits.addEventListener('change', () => this.#scheduleReload());
        this.addEventListener('method', () => { edits.isPlayedByPage = this.isPlayedByPage; });
        edits.addEventListener('file', () => {
            if (this.selection) this.#select({ ...this.selection, isFile: true }, this.position);
        });
        video.addEventListener('loadedmetadata', () => {
            this.#seekToStart();
            this.#showSubtitles();
        });
        video.addEventListener('error', () => this.#handleError());
        video.addEventListener('playing', () => {
            this.#hasPlayed = true;
            this.#setError(undefined);
        });
    }

    /** Plays a stream, or a media file; `edits` are those of the catalog, to which the edits of the panel are added. */
    playRemote({ title, source, edits = [], poster, stream, isFile = false }) {
        this.#select({ origin: 'remote', title, source, edits, poster, stream, isFile });
    }

    /** Plays an offline copy from `position`, in seconds: it can replace a stream whose playback has failed. */
    playOffline({ title, asset, poster, position }) {
        const { id, source, variants, audio, subtitles, mediaFile: isFile } = asset;
        this.#select({ origin: 'offline', title, source, edits: [], poster, asset: id, variants, audio, subtitles, isFile }, position);
    }

    /** The link over which the server sends the stream, as the server reports it; `undefined` before the first request. */
    get link() {
        const id = this.#linkIdentifier;
        return this.#serverConditions.links.find((link) => link.id === id);
    }

    /** Whether this page has played a stream over the link with an identifier. */
    hasPlayed(link) {
        return this.#links.hasIdentifier(link);
    }

    get #linkIdentifier() {
        return this.selection && this.#links.get(linkKey(this.selection));
    }

    isPlaying(stream) {
        const { selection } = this;
        return selection !== undefined
            && (selection.stream === stream.id || isSameStream(selection, { source: stream.url, edits: stream.edits }));
    }

    /** Loads the stream again with the current edits, at the same position if the edited stream includes it. */
    reload() {
        if (this.selection) this.#load(this.position);
    }

    /** Whether streams can be played at all; media files always can. */
    get canPlay() {
        return this.playsHLS || this.hasMediaSource;
    }

    /** Whether the page plays the stream, by Media Source Extensions; the browser plays it otherwise. */
    get isPlayedByPage() {
        return this.#mediaSource !== undefined;
    }

    /** Selects whether the page plays this stream and later ones. */
    selectMethod(usesMediaSource) {
        this.#usesMediaSource = usesMediaSource;
        this.#hasSelectedMethod = true;
        this.reload();
    }

    /** The audio tracks among which the page itself selects, `[{label, language, enabled}]`; empty if the browser does. */
    get audioTracks() {
        return this.#mediaSource?.audioTracks ?? [];
    }

    selectAudio(index) {
        this.#mediaSource?.selectAudio(index);
    }

    /** The current position, or the start position of the current load; 0 when playback has ended. */
    get position() {
        return this.#video.ended ? 0 : this.#video.currentTime || this.#startPosition;
    }

    togglePlay() {
        if (this.#video.paused) this.#play();
        else this.#video.pause();
    }

    seekBy(seconds) {
        const { seekable, currentTime } = this.#video;
        if (seekable.length === 0) return;
        const end = seekable.end(seekable.length - 1);
        this.#video.currentTime = Math.min(end, Math.max(seekable.start(0), currentTime + seconds));
    }

    close() {
        this.#loadCount += 1;
        this.selection = undefined;
        this.#forgetURLs();
        this.#setError(undefined);
        this.#unload();
        this.#dispatch('select');
    }

    /** Closes the player if it plays the asset, which is about to be deleted. */
    closeOffline(id) {
        if (this.selection?.asset === id) this.close();
    }

    #select(selection, position = 0) {
        const isSame = this.selection?.origin === selection.origin && isSameStream(this.selection, selection)
            && Boolean(this.selection.isFile) === Boolean(selection.isFile);
        this.selection = selection;
        this.#forgetURLs();
        if (!isSame) this.#edits.reset(selection);
        if (selection.poster) this.#video.poster = selection.poster;
        else this.#video.removeAttribute('poster');
        this.#setError(undefined);
        this.#unload();
        this.#dispatch('select');
        this.#load(position);
    }

    async #load(position) {
        clearTimeout(this.#reloadTimer);
        this.#loadCount += 1;
        const load = this.#loadCount;
        await this.#prepareLink();
        if (load !== this.#loadCount) return;
        const conditions = this.#networkConditions.value || sharedConditions;
        const url = playbackURL(this.selection, this.#edits.values, conditions, this.#linkIdentifier);
        try {
            const urls = await this.#admittedURLs([url, ...this.#urlsForOthers]);
            if (load === this.#loadCount) this.#open(...urls, position);
        } catch (error) {
            if (load !== this.#loadCount) return;
            this.#unload();
            // “Try again” continues at the position.
            this.#startPosition = position;
            const isRefused = error.status === 400;
            this.#setError({ ...errorDescription(error), isRefused, offersProxy: false, offersOffline: error.status > 400 });
        }
    }

    /** The playback URL for other players and that of a saved playlist, before the server admits them. */
    get #urlsForOthers() {
        const url = playbackURL(this.selection, this.#edits.values, this.#networkConditions.value);
        return [url, savedPlaylistURL(url)];
    }

    /** Returns URLs in the form that the server admits: signed, or those of the media file, which is no playlist. */
    async #admittedURLs(urls) {
        const { origin, isFile } = this.selection;
        if (origin === 'offline' || !(this.#edits.requiresSignature || isFile)) return urls;
        return Promise.all(urls.map((url) => fetchSignedURL(url, { isFile })));
    }

    #setURLsForOthers(url, savedURL) {
        this.sharedURL = url && new URL(url, location.href).href;
        this.savedURL = savedURL && new URL(savedURL, location.href).href;
        this.#dispatch('url');
    }

    #forgetURLs() {
        this.url = undefined;
        this.sharedURL = undefined;
        this.savedURL = undefined;
    }

    /** Ends the playback of what is loaded. */
    #unload() {
        this.#endMediaSource();
        this.#startPosition = 0;
        this.#video.removeAttribute('src');
        this.#video.load();
    }

    #open(url, urlForOthers, savedURL, position) {
        this.url = new URL(url, location.href).href;
        this.#setURLsForOthers(urlForOthers, savedURL);
        this.#setError(undefined);
        this.#hasPlayed = false;
        this.#dispatch('load');
        this.#endMediaSource();
        if (this.selection.isFile || !this.#usesMediaSource) {
            if (!this.playsHLS && !this.selection.isFile) return;
            this.#video.src = this.url;
            this.#startPosition = position;
            this.#dispatch('method');
        } else {
            this.#playMediaSource(position);
        }
        this.#play();
    }

    #playMediaSource(position) {
        this.#startPosition = 0;
        const mediaSource = this.#mediaSource = new MediaSourcePlayer(this.#video);
        mediaSource.addEventListener('tracks', () => this.#dispatch('tracks'));
        for (const type of ['gap', 'recovery', 'live']) {
            mediaSource.addEventListener(type, ({ detail }) => this.dispatchEvent(new CustomEvent(type, { detail })));
        }
        mediaSource.addEventListener('error', () => this.#handlePageError(mediaSource));
        mediaSource.play(this.url, position);
        this.#dispatch('method');
    }

    async #handlePageError(mediaSource) {
        if (mediaSource !== this.#mediaSource) return;
        if (this.#liveSubtitlesLoad === this.#loadCount) {
            this.#playInBrowser();
            return;
        }
        const load = this.#loadCount;
        const { origin } = this.selection;
        const error = await diagnosePageError(mediaSource.error, this.#video.error, { origin, hasPlayed: this.#hasPlayed });
        if (load === this.#loadCount && mediaSource === this.#mediaSource) this.#setError(error);
    }

    /** Lets the browser go on with a live stream that the page cannot play. */
    #playInBrowser() {
        const isPaused = this.#video.paused;
        this.#endMediaSource();
        this.#video.src = this.url;
        this.#dispatch('method');
        if (!isPaused) this.#play();
    }

    #endMediaSource() {
        this.#mediaSource?.close();
        this.#mediaSource = undefined;
        this.#subtitles.remove();
    }

    /** Shows the subtitles of a stream that the browser plays without them. */
    #showSubtitles() {
        if (this.#mediaSource || this.selection?.isFile !== false || this.#video.textTracks.length > 0) return;
        if (Number.isFinite(this.#video.duration)) this.#subtitles.load(this.url);
        else this.#playLiveSubtitles();
    }

    /**
     * Lets the page play a live stream with subtitles, unless the user has selected the method: the page does not know which part
     * of a live stream the browser itself plays.
     */
    async #playLiveSubtitles() {
        const load = this.#loadCount;
        if (!this.hasMediaSource || this.#hasSelectedMethod || this.#liveSubtitlesLoad === load) return;
        let renditions;
        try {
            ({ renditions = [] } = await fetchPlaylist(playbackPath(this.url)));
        } catch {
            // The browser goes on to play the stream.
            return;
        }
        const hasSubtitles = renditions.some(({ type, address }) => type === 'subtitles' && address);
        if (!hasSubtitles || load !== this.#loadCount || this.#mediaSource || this.#video.textTracks.length > 0) return;
        this.#liveSubtitlesLoad = load;
        const isPaused = this.#video.paused;
        this.#playMediaSource(0);
        if (!isPaused) this.#play();
    }

    /** Applies the selected conditions during playback, without a reload. */
    async #applyConditions() {
        if (!this.selection) return;
        this.#updateURLsForOthers();
        try {
            await this.#changeConditions();
            dismissErrors('conditions');
        } catch (error) {
            // The server has no link before the first request, and discards one that has not been used for a while.
            if (error.status === 404) this.#scheduleReload();
            else showError(`The network conditions could not be changed. ${errorMessage(error)}`, 'conditions');
        }
    }

    /** Gives the stream a link of this page, or the link that it had before the selected conditions. */
    async #prepareLink() {
        if (!this.#linkIdentifier) {
            this.#links.add(linkKey(this.selection));
            return;
        }
        // A link that the server has discarded is created with the conditions in the URL.
        await this.#changeConditions().catch(() => {});
    }

    #changeConditions() {
        const conditions = this.#networkConditions.value || sharedConditions;
        return this.#serverConditions.change({ link: this.#linkIdentifier, conditions });
    }

    /** Shows the conditions of the link, which can also be changed elsewhere. */
    #followConditions() {
        const { link } = this;
        if (!link || !this.url) return;
        const selected = this.#networkConditions.value;
        this.#networkConditions.show(link.default ? '' : link.conditions);
        if (selected !== this.#networkConditions.value) this.#updateURLsForOthers();
    }

    async #updateURLsForOthers() {
        if (!this.url) return;
        const [load, conditions] = [this.#loadCount, this.#networkConditions.value];
        const urls = await this.#admittedURLs(this.#urlsForOthers).catch(() => []);
        if (load === this.#loadCount && conditions === this.#networkConditions.value) this.#setURLsForOthers(...urls);
    }

    /** Reloads after a delay, because selecting an option with the arrow keys passes the options in between. */
    #scheduleReload() {
        clearTimeout(this.#reloadTimer);
        this.#reloadTimer = setTimeout(() => this.reload(), reloadDelayMilliseconds);
    }

    #seekToStart() {
        const { duration } = this.#video;
        // A live stream starts at its live edge, and a preview shorter than the position at its beginning.
        if (this.#startPosition > 0 && Number.isFinite(duration) && this.#startPosition < duration - 0.5) {
            this.#video.currentTime = this.#startPosition;
        }
        this.#startPosition = 0;
    }

    async #play() {
        try {
            await this.#video.play();
        } catch (error) {
            // Other failures are reported as `error` events, and a new load aborts the previous one as intended.
            if (error.name !== 'NotAllowedError') return;
            showMessage('The browser blocked autoplay. Press Play in the player.');
        }
    }

    async #handleError() {
        // What plays by Media Source Extensions reports its errors itself.
        if (!this.selection || this.#mediaSource || !this.#video.getAttribute('src')) return;
        const load = this.#loadCount;
        const { origin, isFile } = this.selection;
        const error = await diagnosePlaybackError(this.url, this.#video.error, {
            origin, isFile, isProxied: this.#edits.values.segments !== 'direct', hasPlayed: this.#hasPlayed,
        });
        if (load !== this.#loadCount) return;
        this.#setError(error);
        if (error.conditions) this.#playUnderOtherConditions(error);
    }

    /** Plays the same URL again, at the same position, when the network no longer has the conditions that caused an error. */
    async #playUnderOtherConditions(error) {
        while (this.error === error && await fetchSimulatedConditions(this.url) === error.conditions) {
            await delay(conditionsPollMilliseconds);
        }
        if (this.error !== error) return;
        const { position } = this;
        this.#setError(undefined);
        this.#video.src = this.url;
        this.#startPosition = position;
        this.#play();
    }

    #setError(error) {
        if (this.error === error) return;
        this.error = error;
        this.#dispatch('error');
    }

    #dispatch(type) {
        this.dispatchEvent(new Event(type));
    }
}

/** Returns what identifies the link of a stream among those of the page. */
function linkKey({ asset, source }) {
    return asset ?? source;
}

function isSameStream(one, other) {
    return one.source === other.source && JSON.stringify(one.edits) === JSON.stringify(other.edits);
}
