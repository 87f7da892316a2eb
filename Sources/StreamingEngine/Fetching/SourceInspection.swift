import HLSPlaylist
package import MediaTiming
package import MediaTransport
package import PlaybackReporting
package import ResourceAddressing
package import SegmentFormat

/// The properties of a stream or media file, which are read without playing it.
package struct SourceInspection: Sendable {
    /// The variants and rendition options.
    package let presentation: Presentation
    /// The variant whose media playlist was loaded; `nil` if there is none.
    package let variant: Presentation.Variant?
    /// The duration; `nil` for a live stream.
    package let duration: MediaTime?
    /// The position at which a live stream begins to play by default; `nil` for other content.
    package let liveStart: MediaTime?
    /// The type of the content: on demand, live, or a media file.
    package let playbackType: PlaybackType
    /// The tracks in the media of a file, or of the inspected variant if the playlist declares no codecs; otherwise
    /// empty.
    package let tracks: [MediaTrack]
    /// The title, the artist, the album and the artwork of a media file; empty for a stream.
    package let metadata: MediaFileMetadata
    /// The reason why nothing can be played; `nil` if at least one variant can be played.
    package let error: StreamingError?

    /// Creates an inspection of the content at an address.
    ///
    /// Its kind is recognized by the first bytes, not by a file name extension. For a stream, the playlists of the item
    /// and of one variant are loaded, and the start of a segment if no codecs are declared; for a media file, only its
    /// index.
    ///
    /// - Parameters:
    ///   - address: The address of the content.
    ///   - loader: The transport, and its retries.
    ///   - mimeType: The type of the content; `nil` to recognize it by its first bytes.
    ///   - capabilities: The formats that can be played.
    ///   - time: The clock.
    /// - Throws: ``StreamingError`` if the content is neither a stream nor a media file; `TransportError`,
    ///   `CancellationError`.
    package init(
        of address: ResourceAddress,
        loader: ResourceLoader,
        mimeType: String? = nil,
        capabilities: PlaybackCapabilities,
        time: any TimeSource = SystemTimeSource()
    ) async throws {
        let fetch = ResourceFetcher(loader: loader, time: time)
        let playlist: Playlist
        var file: OpenedFile?
        let kind = mimeType.map { SourceOpener.Kind(mimeType: $0) }
        switch try await SourceOpener(fetch: fetch, kind: kind).open(address).opened {
        case .playlist(let found, _): playlist = found
        case .file(let head, let found, let length):
            let opened = try await MediaFileOpener(fetch: fetch).open(head, at: found, length: length)
            playlist = .media(opened.playlist)
            file = opened
        }
        presentation = file.map { Presentation($0) } ?? Presentation(playlist, capabilities: capabilities)
        variant = presentation.variants.first ?? presentation.unplayable.first?.variant
        let media: MediaPlaylist
        switch playlist {
        case .media(let found): media = found
        case .multivariant:
            guard let variant else { throw StreamingError.nothingPlayable(presentation, at: address) }
            media = try await Self.media(of: variant, fetch, presentation.variables)
        }
        let timeline = PresentationTimeline(media)
        duration = timeline.duration
        liveStart = timeline.isLive ? StartPosition(in: timeline, declared: presentation.start).time : nil
        metadata = file?.metadata ?? MediaFileMetadata()
        playbackType = file != nil ? .file : timeline.isLive ? .live : .vod
        if let file {
            tracks = file.tracks
        } else if presentation.variants.isEmpty || presentation.variants.contains(where: { !$0.codecs.isEmpty }) {
            tracks = []
        } else {
            tracks = await MediaTrackFinder(fetch: fetch).tracks(of: timeline)
            try Task.checkCancellation()
        }
        error =
            presentation.variants.isEmpty
            ? StreamingError.nothingPlayable(presentation, at: address)
            : StreamingError.undecodable(tracks, at: address, canDecode: capabilities.canDecode)
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
