import DASHManifest
import MediaTiming
import SegmentFormat

/// The segments of a period in which events are announced (ISO/IEC 23009-1:2022 §5.10.3).
struct InbandEvents {
    /// A segment, with the values that its event messages need.
    struct Segment {
        let resource: AddressedResource
        /// The start relative to the start of the period.
        let start: MediaTime
    }

    /// The section whose segments contain the events.
    let section: TrackSection
    private let streams: [Stream]

    /// An event stream that the manifest announces, whose texts are read once for all messages.
    private struct Stream {
        let scheme: String
        let value: String?

        init(_ descriptor: Descriptor) {
            scheme = descriptor.scheme
            value = descriptor.value
        }
    }

    /// Returns the events of a period: for each adaptation set those of one representation, because all of its
    /// representations contain the same ones (§5.10.3.3.1).
    static func all(in period: PeriodPlan) -> [InbandEvents] {
        var sets: Set<Int> = []
        return period.sections.compactMap { section in
            guard let section, let candidate = section.candidate, !sets.contains(candidate.set.index) else {
                return nil
            }
            let streams = streams(of: candidate.representation)
            guard !streams.isEmpty else { return nil }
            sets.insert(candidate.set.index)
            return InbandEvents(section: section, streams: streams.map(Stream.init))
        }
    }

    /// The maximum number of event streams of a representation.
    private static let maximumStreamCount = 64
    /// The schemes whose events are not for applications: ID3 tags, which players of HLS read from the segments, and
    /// those about the manifest itself (§5.10.4).
    private static let excludedSchemes: Set<String> = ["https://aomedia.org/emsg/ID3", "urn:mpeg:dash:event:2012"]

    /// Returns the event streams of a representation that become date ranges.
    static func streams(of representation: Representation) -> [Descriptor] {
        representation.descriptors(.inbandEventStream).prefix(maximumStreamCount)
            .filter { !excludedSchemes.contains($0.scheme) }
    }

    /// Returns the segments, those at the end if there are more than a maximum.
    func segments(maximumCount: Int) -> [Segment] {
        let range = section.range
        let first = max(range.lowerBound, range.upperBound -| Int64(clamping: maximumCount))
        return (first..<max(first, range.upperBound)).compactMap { index in
            section.addressing.segment(at: index).map { Segment(resource: $0.resource, start: $0.start) }
        }
    }

    /// Returns a Boolean value that indicates whether the manifest announces the stream of a message.
    func contains(_ message: EventMessage) -> Bool {
        streams.contains { $0.scheme == message.schemeIdentifier && ($0.value ?? message.value) == message.value }
    }

    /// Returns the start of an event relative to the start of the period.
    func start(of message: EventMessage, in segment: Segment) -> MediaTime {
        switch message.time {
        case .afterSegmentStart(let offset): segment.start + offset
        case .presentation(let time):
            time
                - MediaTime(
                    value: section.addressing.presentationTimeOffset,
                    timescale: max(1, section.addressing.timescale)
                )
        }
    }
}
