import HLSPlaylist
import MediaTiming
import PlaybackReporting
import ResourceAddressing
import StreamingEngine

/// Looks at an asset without playing it: at its playlist and that of one variant, or at the head of a file.
struct AssetInspector: Sendable {
    private let request: AssetRequest
    private let canDecode: @Sendable (String) -> Bool
    private let time: any TimeSource

    init(_ request: AssetRequest, canDecode: @escaping @Sendable (String) -> Bool, time: any TimeSource) {
        self.request = request
        self.canDecode = canDecode
        self.time = time
    }

    /// What the asset is.
    ///
    /// - Throws: ``StreamingError``, `TransportError`, `CancellationError`.
    func inspection() async throws -> AssetInspection {
        let found = try await SourceInspection(
            of: request.address,
            loading: request.loading,
            mimeType: request.options.overrideMIMEType,
            capabilities: PlaybackCapabilities(decodes: canDecode),
            time: time
        )
        return AssetInspection(
            presentation: found.presentation,
            duration: found.duration,
            playbackType: found.playbackType,
            tracks: found.variant.map { AssetTrack.tracks(of: $0, found.presentation.groups) } ?? [],
            obstacle: found.obstacle
        )
    }
}

extension AssetTrack {
    /// What playlists tell of a variant and the choices beside it: one track for each kind of media.
    static func tracks(of variant: Presentation.Variant, _ groups: [MediaSelectionGroup]) -> [AssetTrack] {
        let codecs = variant.codecs
        var tracks: [AssetTrack] = []
        if !variant.isAudioOnly { tracks.append(AssetTrack(mediaType: .video, codec: codecs.video.first)) }
        let sound = groups.first { $0.type == .audio }
        if variant.isAudioOnly || sound != nil || codecs.isEmpty || !codecs.audio.isEmpty {
            let language = sound?.defaultOption?.language
            tracks.append(AssetTrack(mediaType: .audio, codec: codecs.audio.first, language: language))
        }
        if let text = groups.first(where: { $0.type == .subtitles }) {
            let language = text.defaultOption?.language
            tracks.append(AssetTrack(mediaType: .subtitles, codec: codecs.subtitles.first, language: language))
        }
        return tracks
    }
}
