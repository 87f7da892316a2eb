public import MediaTiming
import ReportFormat
public import ResourceAddressing

/// A media segment with all tags that apply to it (RFC 8216bis §3 and §4.4.4).
///
/// A segment is a view of the playlist: each property is parsed from its lines when it is read. Store a property in a
/// constant if you use it often.
public struct MediaSegment: Sendable {
    private let playlist: MediaPlaylist.Storage
    private let record: PlaylistIndex.SegmentRecord
    /// The offset and the time at which the segment ends.
    private let end: (offset: Int, ticks: Int64)
    /// The index of the segment in the playlist, from 0.
    public let position: Int

    init(_ playlist: MediaPlaylist.Storage, at position: Int) {
        self.playlist = playlist
        self.position = position
        record = playlist.index.segments[position]
        end = playlist.end(of: position)
    }

    /// The range of the value of `EXTINF`, or `nil` if there is none.
    private var information: Range<Int>? { playlist.information(of: position) }

    /// The media sequence number of the segment (§4.4.3.2).
    public var sequence: Int64 {
        (playlist.header.mediaSequence ?? 0) +| playlist.header.skippedSegmentCount +| Int64(position)
    }
    /// The discontinuity sequence number of the segment (§4.4.3.3).
    public var discontinuitySequence: Int64 {
        let tags = playlist.header.discontinuities
        let count = tags.partitioningIndex { playlist.index.tags[Int($0)].segment > position }
        return (playlist.header.discontinuitySequence ?? 0) +| Int64(count)
    }
    /// The start time, relative to the first segment of the playlist.
    public var start: MediaTime { playlist.time(record.startTicks) }
    /// The duration, exact to the digits written, or zero if it cannot be read.
    public var duration: MediaTime {
        if playlist.index.hasExactTimes { return playlist.time(end.ticks -| record.startTicks) }
        guard let range = information else { return .zero }
        let bytes = playlist.bytes
        let digits = SegmentInformation.digits(bytes.span, in: range)
        return digits.value > 0 ? MediaTime(digits) : .zero
    }
    /// The title, which is the text after the comma in `EXTINF`, or `nil` if there is none.
    public var title: String? { information.flatMap { SegmentInformation.title(playlist.bytes, in: $0) } }
    /// The URI as written, with variables replaced.
    public var uri: String {
        let range = SegmentLines.uri(record, endingAt: end.offset, in: playlist.bytes)
        return playlist.header.variables.substitute(playlist.bytes.text(range))
    }
    /// The resolved URI, which is absolute if the URL of the playlist is known.
    public var address: ResourceAddress { playlist.context.resolve(uri) }
    /// The byte range of the segment in its resource, or `nil` for the entire resource (§4.4.4.2).
    public var byteRange: ByteRange? { playlist.byteRange(of: position) }
    /// The media initialization section that applies to the segment (§4.4.4.5).
    public var map: MediaInitialization? { playlist.map(for: position) }
    /// The keys in force, one for each key format; empty if the segment is not encrypted (§4.4.4.4).
    public var keys: [EncryptionKey] { playlist.keys(for: position) }
    /// The date of the start of the segment, extrapolated from the last segment with a date (§4.4.4.6).
    public var programDateTime: ProgramDateTime? { playlist.programDateTime(of: position) }
    /// A Boolean value that indicates whether the segment itself has a valid date tag.
    public var hasOwnProgramDateTime: Bool { playlist.hasOwnDate(at: position) }
    /// A Boolean value that indicates whether the media of the segment is missing (§4.4.4.7).
    public var isGap: Bool { playlist.hasTag(in: playlist.header.gaps, ownedBy: position) }
    /// A Boolean value that indicates whether the encoding or the timestamps are discontinuous before the segment
    /// (§4.4.4.3).
    public var hasDiscontinuity: Bool { playlist.hasTag(in: playlist.header.discontinuities, ownedBy: position) }
    /// The announced bit rate, or `nil` if there is none or the segment is a byte range, to which bit rates do not
    /// apply (§4.4.4.8).
    public var bitRate: BitRate? {
        playlist.writtenByteRange(of: position) == nil ? playlist.bitRate(for: position) : nil
    }
    /// The partial segments of the segment (§4.4.4.9).
    public var parts: [PartialSegment] { playlist.parts(ofSegment: position) }

    /// The fields of `inspect --json` for the tags of the segment that this type does not read.
    var reportFields: [ReportValue.Field] {
        guard !TagName.reported.isEmpty else { return [] }
        let tags = playlist.index.tags
        let first = tags.partitioningIndex { $0.segment >= position }
        let end = tags.partitioningIndex { $0.segment > position }
        return playlist.index.reportFields(of: tags[first..<end], where: { $0 == .segment }, in: playlist.text)
    }

    /// The range of the segment on the playlist's timeline.
    public var timeRange: MediaTimeRange { MediaTimeRange(start: start, duration: duration) }
}

/// A media initialization section: `EXT-X-MAP` (RFC 8216bis §4.4.4.5).
public struct MediaInitialization: Sendable, Hashable {
    /// The URI as written, with variables replaced.
    public let uri: String
    /// The resolved URI, which is absolute if the URL of the playlist is known.
    public let address: ResourceAddress
    /// The byte range of the section in its resource, or `nil` for the entire resource.
    public let byteRange: ByteRange?
    /// The keys with which the section is encrypted; empty if it is not encrypted.
    public let keys: [EncryptionKey]
}
