package import HLSPlaylist
package import MediaTiming
package import MediaTransport
import PlaybackReporting
package import ResourceAddressing
package import SegmentFormat

/// A reader of the segments of a media playlist or a media file, which loads and decrypts them without playing them.
package struct MediaReader: Sendable {
    /// The content of a resource.
    package enum Content: Sendable {
        /// A document, such as a playlist or a manifest, with the address after redirects.
        case document([UInt8], ResourceAddress)
        /// A media file.
        case file(MediaReader)
    }

    /// The playlist; for a file, one whose segments are byte ranges of the file.
    package var playlist: MediaPlaylist { timeline.playlist }
    /// The tracks of a file; empty for a playlist, and if they are not read for the container format of the file.
    package let fileTracks: [MediaTrack]
    /// The container format of a file; `nil` for a playlist.
    package var fileContainer: MediaContainer? { file?.container }
    /// The title, the artist, the album and the artwork of a file; empty for a playlist.
    package var fileMetadata: MediaFileMetadata { file?.metadata ?? MediaFileMetadata() }
    /// The size of a file in bytes; `nil` for a playlist, and if it is unknown.
    package let fileSize: Int64?

    /// The number of bytes that the index of a file lists and the file does not have; `nil` if it has them all.
    ///
    /// An estimate, or a minimum, if the container does not declare the length of all media; see ``missingLengthText``.
    package var missingLength: Int64? { file?.shortfall?.length }

    /// A clause about the bytes that are missing at the end of a file, such as “its last 3 MB are missing”; `nil` if none are.
    package var missingLengthText: String? { file?.shortfall.map { $0.accuracy.text($0.length) } }

    /// A clause about damage of a file that is not incomplete, such as a box with an impossible size; `nil` if none was found.
    package var fileProblem: String? { file?.problem }

    /// The duration that the index of a file declares; the end of the file can be missing.
    package var declaredDuration: MediaTime { file?.shortfall?.declaredDuration ?? playlist.duration }

    private let timeline: PresentationTimeline
    private let file: OpenedFile?
    private let loader: SegmentLoader
    private let name: String

    /// Creates a reader of the segments of a playlist.
    ///
    /// - Parameters:
    ///   - playlist: The playlist.
    ///   - loader: The loader of the segments.
    ///   - maximumSegmentSize: The size of a segment beyond which it is refused; `nil` for 1 GiB.
    package init(_ playlist: MediaPlaylist, loader: ResourceLoader, maximumSegmentSize: ByteCount? = nil) {
        timeline = PresentationTimeline(playlist)
        file = nil
        fileTracks = []
        fileSize = nil
        name = playlist.context.address?.text ?? ""
        self.loader = SegmentLoader(
            ResourceFetcher(loader: loader, time: SystemTimeSource()),
            limits: SegmentSizeLimits(main: maximumSegmentSize ?? ResourceFetcher.maximumSegmentSize)
        ) { _ in }
    }

    private init(_ file: OpenedFile, size: Int64?, name: String, _ fetch: ResourceFetcher) {
        timeline = PresentationTimeline(file.playlist)
        self.file = file
        fileTracks = file.tracks
        fileSize = size
        self.name = name
        loader = SegmentLoader(fetch, limits: SegmentSizeLimits(main: ResourceFetcher.maximumSegmentSize)) { _ in }
    }

    /// Loads a document, or the index of a media file.
    ///
    /// - Parameters:
    ///   - address: The address of the resource.
    ///   - loader: The loader.
    /// - Returns: The bytes of what is no media file, or a reader of the file.
    /// - Throws: ``StreamingError`` if the media file is not supported; `TransportError`, `CancellationError`.
    package static func open(_ address: ResourceAddress, loader: ResourceLoader) async throws -> Content {
        let fetch = ResourceFetcher(loader: loader, time: SystemTimeSource())
        let opener = SourceOpener(fetch: fetch)
        var began = fetch.time.now
        let (_, bytes, response, isWhole) = try await opener.load(address, &began, until: SourceOpener.hasMediaIndex)
        guard SourceOpener.isMedia(bytes) else { return .document(bytes, response.address) }
        let length = isWhole ? Int64(bytes.count) : response.expectedLength
        let file = try await MediaFileOpener(fetch: fetch).open(bytes, at: response.address, length: length)
        return .file(MediaReader(file, size: length, name: response.address.text, fetch))
    }

    /// The date ranges of the playlist that have a start date.
    package var dateRanges: [TimedDateRange] { TimedDateRange.ranges(of: timeline) }

    /// Returns the time at which the playlist begins on the timeline of another playlist of the same presentation.
    ///
    /// - Parameter reference: The reader of the other playlist, whose timeline begins with zero.
    /// - Returns: The time, by the dates of both playlists; `nil` if one has no dates, or if they are far apart.
    package func start(byDatesOf reference: MediaReader) -> MediaTime? {
        TimelineComparison(playlist, reference.timeline).positionByDates.map { MediaTime(nanoseconds: $0.start) }
    }

    /// The number of segments.
    package var count: Int { playlist.segments.count }

    /// Loads a segment and decrypts it.
    ///
    /// - Parameter position: The position in the playlist, below ``count``.
    /// - Returns: The segment, with its range on the timeline of the playlist.
    /// - Throws: ``StreamingError``, `CancellationError`.
    package func segment(at position: Int) async throws -> PipelineSegment {
        let reference = timeline.reference(at: position)
        let content: PipelineSegment.Content
        var protection: PipelineSegment.SampleProtection?
        if reference.isGap {
            content = .gap
        } else {
            do {
                let loaded = try await loader.load(reference, for: .main, monitor: TransferMonitor())
                (content, protection) = (loaded.content, loaded.protection)
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                throw SegmentFailure(error, of: reference).error
            }
        }
        return PipelineSegment(
            type: .muxed,
            content: content,
            range: reference.range,
            discontinuityDomain: PipelineSegment.Domain(playlist: name, sequence: reference.domain.sequence),
            sampleProtection: protection,
            position: file.map { file in
                PipelineSegment.FilePosition(
                    reference.byteRange,
                    in: file,
                    isLast: position + 1 == count
                )
            }
        )
    }
}
