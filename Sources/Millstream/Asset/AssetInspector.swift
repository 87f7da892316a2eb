import HLSPlaylist
import MediaTiming
import PlaybackReporting
import ResourceAddressing
import StreamingEngine

/// An inspection of an asset without playback: it loads the multivariant playlist and one media playlist, or the header
/// of a file.
struct AssetInspector: Sendable {
    private let request: AssetRequest
    private let canDecode: @Sendable (String) -> Bool
    private let time: any TimeSource

    init(_ request: AssetRequest, canDecode: @escaping @Sendable (String) -> Bool, time: any TimeSource) {
        self.request = request
        self.canDecode = canDecode
        self.time = time
    }

    /// Loads and returns the properties of the asset.
    ///
    /// - Throws: ``StreamingError``, `TransportError`, `CancellationError`.
    func inspection() async throws -> AssetInspection {
        let found = try await SourceInspection(
            of: request.address,
            loader: request.loader,
            mimeType: request.options.overrideMIMEType,
            capabilities: PlaybackCapabilities(canDecode: canDecode),
            time: time
        )
        return AssetInspection(
            presentation: found.presentation,
            duration: found.duration,
            playbackType: found.playbackType,
            tracks: found.variant.map { AssetTrack.tracks(of: $0, found.presentation.groups) } ?? [],
            error: found.error
        )
    }
}

extension AssetTrack {
    /// Returns the tracks that playlists announce for a variant and its rendition groups: at most one for each media
    /// type.
    static func tracks(of variant: Presentation.Variant, _ groups: [MediaSelectionGroup]) -> [AssetTrack] {
        let codecs = variant.codecs
        var tracks: [AssetTrack] = []
        if !variant.isAudioOnly { tracks.append(AssetTrack(mediaType: .video, codec: codecs.video.first)) }
        let audioGroup = groups.first { $0.type == .audio }
        if variant.isAudioOnly || audioGroup != nil || codecs.isEmpty || !codecs.audio.isEmpty {
            let language = audioGroup?.defaultOption?.language
            tracks.append(AssetTrack(mediaType: .audio, codec: codecs.audio.first, language: language))
        }
        if let subtitleGroup = groups.first(where: { $0.type == .subtitles }) {
            let language = subtitleGroup.defaultOption?.language
            tracks.append(AssetTrack(mediaType: .subtitles, codec: codecs.subtitles.first, language: language))
        }
        return tracks
    }
}
