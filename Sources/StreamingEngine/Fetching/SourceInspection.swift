import HLSPlaylist
public import MediaTiming
public import MediaTransport
public import PlaybackReporting
public import ResourceAddressing

/// The properties of a stream or media file, which are read without playing it.
public struct SourceInspection: Sendable {
    /// The variants and rendition options.
    public let presentation: Presentation
    /// The variant whose media playlist was loaded; `nil` if there is none.
    public let variant: Presentation.Variant?
    /// The duration; `nil` for a live stream.
    public let duration: MediaTime?
    /// The type of the content: on demand, live, or a media file.
    public let playbackType: PlaybackType
    /// The reason why nothing can be played; `nil` if at least one variant can be played.
    public let error: StreamingError?

    /// Inspects the content at an address.
    ///
    /// Its kind is recognized by the first bytes, not by a file name extension. For a stream, the playlists of the item
    /// and of one variant are loaded; for a media file, only its index.
    ///
    /// - Parameters:
    ///   - address: The address of the content.
    ///   - loader: The transport, and its retries.
    ///   - mimeType: The type of the content; `nil` to recognize it by its first bytes.
    ///   - capabilities: The formats that can be played.
    ///   - time: The clock.
    /// - Throws: ``StreamingError`` if the content is neither a stream nor a media file; `TransportError`,
    ///   `CancellationError`.
    public init(
        of address: ResourceAddress,
        loader: ResourceLoader,
        mimeType: String? = nil,
        capabilities: PlaybackCapabilities,
        time: any TimeSource = SystemTimeSource()
    ) async throws {
        let fetch = ResourceFetcher(loader: loader, time: time)
        let playlist: Playlist
        var isFile = false
        let kind = mimeType.map { SourceOpener.Kind(mimeType: $0) }
        switch try await SourceOpener(fetch: fetch, kind: kind).open(address).opened {
        case .playlist(let found, _): playlist = found
        case .file(let head, let found, let length):
            playlist = .media(try await MediaFileOpener(fetch: fetch).open(head, at: found, length: length).playlist)
            isFile = true
        }
        presentation = Presentation(playlist, capabilities: capabilities)
        variant = presentation.variants.first ?? presentation.unplayable.first?.variant
        error =
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
        _ fetch: ResourceFetcher,
        _ variables: [String: String]
    ) async throws -> MediaPlaylist {
        let opening = SourceOpener(fetch: fetch, variables: variables)
        guard case .playlist(.media(let media), _) = try await opening.open(variant.address).opened else {
            throw StreamingError(
                .unreadablePlaylist,
                "expected a media playlist, but received another resource",
                address: variant.address
            )
        }
        return media
    }
}
