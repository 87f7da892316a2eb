import HLSPlaylist
import MediaTiming
import MediaTransport
import NIOCore
import PlaybackReporting
import ResourceAddressing
import StreamingEngine

/// Looks at an asset without playing it: at its playlist, and at that of one variant.
///
/// What is behind the address is told by the first bytes, not by names; of a film no more than its beginning is loaded.
struct AssetInspector: Sendable {
    private let request: AssetRequest
    private let canDecode: @Sendable (String) -> Bool

    /// So much tells a playlist from a film.
    private static let headSize = 64 << 10

    init(_ request: AssetRequest, canDecode: @escaping @Sendable (String) -> Bool) {
        self.request = request
        self.canDecode = canDecode
    }

    /// What the asset is.
    ///
    /// - Throws: ``StreamingError``, `TransportError`, `CancellationError`.
    func inspection() async throws -> AssetInspection {
        let playlist = try await playlist(at: request.address)
        let presentation = Presentation(playlist, capabilities: PlaybackCapabilities(decodes: canDecode))
        switch playlist {
        case .media(let media): return inspection(of: presentation, presentation.variants.first, media)
        case .multivariant:
            guard let variant = presentation.variants.first ?? presentation.unplayable.first?.variant else {
                throw StreamingError(
                    .unreadablePlaylist,
                    "the playlist names nothing that could be played",
                    address: request.address
                )
            }
            let found = try await self.playlist(at: variant.address, variables: presentation.variables)
            guard case .media(let media) = found else {
                throw StreamingError(
                    .unreadablePlaylist,
                    "a media playlist was expected, and a multivariant playlist came",
                    address: variant.address
                )
            }
            return inspection(of: presentation, variant, media)
        }
    }

    private func inspection(
        of presentation: Presentation,
        _ variant: Presentation.Variant?,
        _ media: MediaPlaylist
    ) -> AssetInspection {
        let timeline = PresentationTimeline(media)
        return AssetInspection(
            presentation: presentation,
            duration: timeline.duration,
            playbackType: timeline.isLive ? .live : .vod,
            tracks: variant.map { AssetTrack.tracks(of: $0, presentation.groups) } ?? [],
            obstacle: presentation.variants.isEmpty ? obstacle(of: presentation) : nil
        )
    }

    private func obstacle(of presentation: Presentation) -> StreamingError {
        var seen: Set<String> = []
        let reasons = presentation.unplayable.flatMap(\.obstacles).map(\.description).filter {
            seen.insert($0).inserted
        }
        return StreamingError(
            .unsupported,
            "none of the variants can be played: " + reasons.joined(separator: "; "),
            address: request.address
        )
    }

    private func playlist(at address: ResourceAddress, variables: [String: String] = [:]) async throws -> Playlist {
        let (bytes, found) = try await beginning(of: address)
        do {
            return try Playlist.parse(
                bytes,
                context: PlaylistContext(address: found, importableVariables: variables)
            )
        } catch {
            guard case .notAPlaylist(let content) = error else {
                throw StreamingError(.unreadablePlaylist, "\(error)", address: address, cause: error)
            }
            if content == .dashManifest {
                throw StreamingError(
                    .needsTranslation,
                    "this is a DASH manifest; translate it to HLS first",
                    address: address
                )
            }
            throw StreamingError(
                .notRecognized,
                "as a stream, \(error); as a file, nothing can be said of it yet",
                address: address,
                cause: error
            )
        }
    }

    /// The bytes of a playlist, all of them; the first ones of anything else.
    private func beginning(of address: ResourceAddress) async throws -> ([UInt8], ResourceAddress) {
        try await request.loading.retrying(TransportRequest(address, kind: .playlist)) { response in
            var bytes: [UInt8] = []
            for try await buffer in response.body {
                bytes.append(contentsOf: buffer.readableBytesView)
                guard Int64(bytes.count) <= ResourceLoading.playlistLimit.bytes else {
                    throw TransportError(.tooLarge, "the playlist is larger than it may be", address: response.address)
                }
                if bytes.count >= Self.headSize, ForeignContent(bytes) != nil { break }
            }
            return (bytes, response.address)
        }
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
