import HLSPlaylist
public import MediaTiming
public import MediaTransport
public import PlaybackReporting
public import ResourceAddressing

/// What an address leads to, found out without playing it: its playlist and that of one variant, or the head of a file.
public struct SourceInspection: Sendable {
    /// What can be played, and in which qualities and languages.
    public let presentation: Presentation
    /// The variant that was looked at; `nil` of what has none.
    public let variant: Presentation.Variant?
    /// How long it is; `nil` of what is live.
    public let duration: MediaTime?
    /// On demand, live or a file.
    public let playbackType: PlaybackType
    /// Why nothing of it can be played; `nil` where something can.
    public let obstacle: StreamingError?

    /// Looks.
    ///
    /// What it is, is told by the first bytes, not by names; of a film no more is loaded than says what is where.
    ///
    /// - Parameters:
    ///   - address: Where it is.
    ///   - loading: Where bytes come from.
    ///   - mimeType: What it is, whatever its bytes say; `nil` to go by those.
    ///   - capabilities: What can be played.
    ///   - time: The clock.
    /// - Throws: ``StreamingError`` for what is neither a stream nor a file; `TransportError`, `CancellationError`.
    public init(
        of address: ResourceAddress,
        loading: ResourceLoading,
        mimeType: String? = nil,
        capabilities: PlaybackCapabilities,
        time: any TimeSource = SystemTimeSource()
    ) async throws {
        let fetch = ResourceFetch(loading: loading, time: time)
        let playlist: Playlist
        var isFile = false
        let kind = mimeType.map { SourceOpening.Kind(mimeType: $0) }
        switch try await SourceOpening(fetch: fetch, kind: kind).open(address).opened {
        case .playlist(let found, _): playlist = found
        case .file(let head, let found, let length):
            playlist = .media(try await FileOpening(fetch: fetch).open(head, at: found, length: length).playlist)
            isFile = true
        }
        presentation = Presentation(playlist, capabilities: capabilities)
        variant = presentation.variants.first ?? presentation.unplayable.first?.variant
        obstacle =
            presentation.variants.isEmpty ? StreamingError.nothingPlayable(presentation, at: address) : nil
        let media: MediaPlaylist
        switch playlist {
        case .media(let found): media = found
        case .multivariant:
            guard let variant else { throw StreamingError.nothingPlayable(presentation, at: address) }
            media = try await Self.media(of: variant, fetch, presentation.variables)
        }
        let timeline = PresentationTimeline(media)
        duration = timeline.duration
        playbackType = isFile ? .file : timeline.isLive ? .live : .vod
    }

    private static func media(
        of variant: Presentation.Variant,
        _ fetch: ResourceFetch,
        _ variables: [String: String]
    ) async throws -> MediaPlaylist {
        let opening = SourceOpening(fetch: fetch, variables: variables)
        guard case .playlist(.media(let media), _) = try await opening.open(variant.address).opened else {
            throw StreamingError(
                .unreadablePlaylist,
                "a media playlist was expected, and something else came",
                address: variant.address
            )
        }
        return media
    }
}
