import HLSPlaylist
import MediaTiming
import PlaybackReporting
import ResourceAddressing
import SegmentFormat
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
            tracks: found.variant.map { variant in
                // The options of a file are its tracks.
                let groups = found.playbackType == .file ? [] : found.presentation.groups
                return AssetTrack.tracks(of: variant, groups, media: found.tracks)
            } ?? [],
            metadata: found.metadata,
            liveStart: found.liveStart,
            error: found.error
        )
    }
}

extension AssetTrack {
    /// Returns the tracks of a variant and its rendition groups: those that the playlists declare, at most one for each
    /// media type, or those of its media.
    ///
    /// - Parameters:
    ///   - variant: The variant.
    ///   - groups: The rendition groups.
    ///   - media: The tracks in the media of the variant; empty if they are not known.
    /// - Returns: The tracks: video, audio and subtitles.
    static func tracks(
        of variant: Presentation.Variant,
        _ groups: [MediaSelectionGroup],
        media: [MediaTrack]
    ) -> [AssetTrack] {
        guard media.isEmpty else {
            let hasAudioGroup = groups.contains { $0.type == .audio }
            let contained = media.filter { $0.mediaType != .audio || !hasAudioGroup }.compactMap { AssetTrack($0) }
            return contained + tracks(of: groups)
        }
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

    /// Returns the tracks of rendition groups, one for the audio and one for the subtitles.
    private static func tracks(of groups: [MediaSelectionGroup]) -> [AssetTrack] {
        [(Rendition.MediaType.audio, MediaType.audio), (.subtitles, .subtitles)].compactMap { type, mediaType in
            groups.first { $0.type == type }.map { group in
                AssetTrack(mediaType: mediaType, language: group.defaultOption?.language)
            }
        }
    }

    /// Creates a track from a track of the media; `nil` if it is neither video nor audio nor subtitles.
    private init?(_ track: MediaTrack) {
        let mediaType: MediaType
        switch track.mediaType {
        case .video: mediaType = .video
        case .audio: mediaType = .audio
        case .subtitles: mediaType = .subtitles
        case .metadata, .other: return nil
        }
        self.init(mediaType: mediaType, codec: track.codec, language: track.language, name: track.name)
    }
}
