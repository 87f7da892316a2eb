package import HLSPlaylist
package import MediaTiming
package import ResourceAddressing

/// A part of a segment of a simulated channel to which a playlist refers.
///
/// It is the fragment of the URL of the segment. Who delivers the part has to divide the segment, and delivers no part
/// before its publication.
package struct SegmentPart: Sendable, Hashable {
    /// The URL of the segment.
    package private(set) var segment: ResourceAddress
    /// The range of the segment in its resource; `nil` for the whole resource.
    package let byteRange: ByteRange?
    /// The URL of the initialization section; `nil` if there is none.
    package private(set) var initialization: ResourceAddress?
    /// The range of the initialization section in its resource; `nil` for the whole resource.
    package let initializationRange: ByteRange?
    /// The index of the part.
    package let index: Int
    /// The number of parts.
    package let count: Int
    /// The duration of a part, except for the last one.
    package let target: MediaTime
    /// The duration of the segment.
    package let duration: MediaTime
    /// The date from which on the part is available.
    package let publication: ProgramDateTime

    /// The maximum number of parts of a segment.
    package static let maximumCount = 200

    /// Creates a part of a segment.
    init(_ index: Int, of segment: MediaSegment, count: Int, target: MediaTime, publication: ProgramDateTime) {
        self.segment = segment.address.withoutFragment
        byteRange = segment.byteRange
        initialization = segment.map?.address.withoutFragment
        initializationRange = segment.map?.byteRange
        self.index = index
        self.count = count
        self.target = target
        duration = segment.timeRange.duration
        self.publication = publication
    }

    /// Creates the part that a URL refers to, or `nil` if it does not refer to a part of a segment.
    package init?(of address: ResourceAddress) {
        guard let fragment = address.fragment, fragment.hasPrefix("part=") else { return nil }
        var values: [Substring: String] = [:]
        for field in fragment.split(separator: "&", omittingEmptySubsequences: false) {
            let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let value = PercentEncoding.decode(String(parts[1])),
                values.updateValue(value, forKey: parts[0]) == nil
            else { return nil }
        }
        func time(_ name: Substring, in range: ClosedRange<MediaTime>) -> MediaTime? {
            values[name].flatMap { MediaTime(decimal: $0) }.flatMap { range.contains($0) ? $0 : nil }
        }
        guard let index = values["part"].flatMap({ Int($0) }), let count = values["count"].flatMap({ Int($0) }),
            (1...Self.maximumCount).contains(count), (0..<count).contains(index),
            let target = time("target", in: SimulatedChannel.partTargets),
            let duration = time("duration", in: MediaTime(value: 1, timescale: 1_000)...MediaTime(seconds: 86_400)),
            let publication = time("date", in: .zero...MediaTime(seconds: 1 << 40)),
            let byteRange = Self.byteRange(values["range"]), let mapRange = Self.byteRange(values["map-range"])
        else { return nil }
        self.index = index
        self.count = count
        self.target = target
        self.duration = duration
        self.publication = ProgramDateTime(sinceEpoch: publication)
        self.byteRange = byteRange
        initializationRange = mapRange
        initialization = values["map"].map { ResourceAddress($0) }
        segment = address.withoutFragment
    }

    /// Returns the part with other URLs of its segment and initialization section.
    func replacingAddresses(_ replacement: (ResourceAddress) -> ResourceAddress) -> SegmentPart {
        var part = self
        part.segment = replacement(segment)
        part.initialization = initialization.map(replacement)
        return part
    }

    /// The URL of the segment with this part as its fragment.
    package var address: ResourceAddress {
        var fields = [
            "part=\(index)", "count=\(count)", "target=\(target)", "duration=\(duration)",
            "date=\(publication.sinceEpoch)",
        ]
        if let byteRange { fields.append("range=\(byteRange)") }
        if let initialization { fields.append("map=" + PercentEncoding.encode(initialization.text)) }
        if let initializationRange { fields.append("map-range=\(initializationRange)") }
        return ResourceAddress(segment.text + "#" + fields.joined(separator: "&"))
    }

    /// Parses a range of the form `LENGTH@START`.
    ///
    /// - Returns: A range of `nil` for a missing text; `nil` for another text.
    private static func byteRange(_ text: String?) -> ByteRange?? {
        guard let text else { return .some(nil) }
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, let length = Int64(parts[0]), let start = Int64(parts[1]),
            let range = ByteRange(start: start, length: length)
        else { return nil }
        return .some(range)
    }
}

extension ResourceAddress {
    /// The address without its fragment.
    fileprivate var withoutFragment: ResourceAddress { ResourceAddress(String(text.prefix { $0 != "#" })) }
}
