import HLSPlaylist
import PlaybackReporting
import SegmentFormat

/// The tracks of an item that are played: those that its playlists declare, or those in its media.
///
/// The tracks of a variant without codecs are unknown until its media is loaded; until then, those of the previous variant
/// remain.
struct PlaybackTrackList: Sendable {
    private(set) var tracks: [PlaybackTrack] = []
    /// The tracks in the media of the variants for which the playlist declares no codecs.
    private var mediaTracks: [Presentation.Variant.ID: [MediaTrack]] = [:]

    /// Sets the tracks in the media of a variant without declared codecs.
    mutating func setTracks(_ tracks: [MediaTrack], of variant: Presentation.Variant) {
        mediaTracks[variant.id] = tracks
    }

    /// Returns a Boolean value that indicates whether the tracks of a variant are unknown until its media is loaded.
    func areUnknown(of variant: Presentation.Variant) -> Bool {
        variant.codecs.isEmpty && mediaTracks[variant.id] == nil
    }

    /// Sets the tracks, and reports them if they changed.
    mutating func set(_ found: [PlaybackTrack], _ sink: inout EffectSink) {
        guard found != tracks else { return }
        tracks = found
        sink.report(.tracksChanged(found))
    }

    /// Determines the tracks, and reports them if they changed.
    ///
    /// - Parameters:
    ///   - variant: The variant that is fetched.
    ///   - catalog: The sources, with the selected options.
    ///   - hasAudioSource: Whether audio has segments of its own.
    ///   - sink: The collector of effects.
    mutating func update(
        for variant: Presentation.Variant,
        _ catalog: SourceCatalog,
        hasAudioSource: Bool,
        _ sink: inout EffectSink
    ) {
        guard let presentation = catalog.presentation else { return }
        let found: [PlaybackTrack]
        if let media = mediaTracks[variant.id], variant.codecs.isEmpty, !media.isEmpty {
            found = Self.containedTracks(media, catalog, hasAudioSource: hasAudioSource)
        } else if areUnknown(of: variant) {
            return
        } else {
            found = Self.declaredTracks(of: variant, catalog, hasAudioSource: hasAudioSource)
        }
        var subtitles: [PlaybackTrack] = []
        if let selected = catalog.selection[.subtitles], presentation.group(.subtitles) != nil {
            let track = selected.fileTrack?.track(in: mediaTracks[variant.id] ?? [], of: .subtitles)
            let codec = track?.codec ?? variant.codecs.subtitles.first ?? "wvtt"
            subtitles = [PlaybackTrack(id: 3, mediaType: .subtitles, codec: codec, language: selected.language)]
        }
        set(found + subtitles, &sink)
    }

    private static func declaredTracks(
        of variant: Presentation.Variant,
        _ catalog: SourceCatalog,
        hasAudioSource: Bool
    ) -> [PlaybackTrack] {
        let codecs = variant.codecs
        var found: [PlaybackTrack] = []
        let isMuxed =
            !hasAudioSource && !variant.isAudioOnly && !catalog.hasSeparateAudio(variant)
            && (codecs.isEmpty || !codecs.audio.isEmpty)
        if !variant.isAudioOnly {
            found.append(PlaybackTrack(id: 1, mediaType: .video, codec: codecs.video.first))
        }
        if variant.isAudioOnly || isMuxed || hasAudioSource {
            let language = catalog.selection[.audio]?.language
            found.append(PlaybackTrack(id: 2, mediaType: .audio, codec: codecs.audio.first, language: language))
        }
        return found
    }

    /// Returns the tracks that are played of the media of the main source: the selected one of a file or else the first
    /// one of each type, and audio with segments of its own instead of that of the main source.
    private static func containedTracks(
        _ media: [MediaTrack],
        _ catalog: SourceCatalog,
        hasAudioSource: Bool
    ) -> [PlaybackTrack] {
        var found: [PlaybackTrack] = []
        if let video = media.first(where: { $0.mediaType == .video }) {
            found.append(PlaybackTrack(id: 1, mediaType: .video, codec: video.codec, language: video.language))
        }
        let selection = catalog.selection[.audio]
        let selected = selection?.fileTrack?.track(in: media, of: .audio)
        let audio = hasAudioSource ? nil : selected ?? media.first { $0.mediaType == .audio }
        if audio != nil || hasAudioSource {
            let language = selection?.language ?? audio?.language
            found.append(PlaybackTrack(id: 2, mediaType: .audio, codec: audio?.codec, language: language))
        }
        return found
    }
}
