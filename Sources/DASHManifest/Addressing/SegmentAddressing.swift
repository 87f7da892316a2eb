package import MediaTiming
import ResourceAddressing

/// The addresses of the segments of a representation.
///
/// Segments are computed one at a time when they are requested, because a manifest of a few hundred bytes can describe any
/// number of them.
package struct SegmentAddressing: Sendable {
    /// The reason for which a representation has no segments.
    package enum Fault: String, Sendable, Hashable {
        /// The representation has no segment information and no base URL.
        case noSegmentInformation = "no-segment-information"
        /// A template has neither a duration nor a timeline, or has no media.
        case incompleteTemplate = "incomplete-template"
        /// The number of segments depends on a duration that the manifest does not declare.
        case unknownDuration = "unknown-duration"
        /// A time is 2^63 or more, in the units of the timescale.
        case excessiveTime = "excessive-time"
    }

    /// The way in which segments are found.
    private enum Source: Sendable {
        case template(AddressTemplate, SegmentTimes)
        case list([AddressedResource], SegmentTimes)
        case index([IndexedSegment])
        case wholeFile(duration: MediaTime)
        case none
    }

    /// The base URLs, the preferred one first.
    package let baseAddresses: [BaseAddress]
    /// The units per second of ``AddressedSegment/time``.
    package let timescale: Int64
    /// The time in the media at the start of the period.
    package let presentationTimeOffset: Int64
    /// The initialization segment, or `nil` if media segments need none or it is not known.
    package private(set) var initialization: AddressedResource?
    /// The segment index that has to be loaded before the segments are known, or `nil` if none is needed.
    package private(set) var index: AddressedResource?
    /// The reason for which there are no segments, or `nil` if there are segments.
    package private(set) var fault: Fault?
    /// A Boolean value that indicates whether the manifest does not say how many segments there are.
    package private(set) var isUnbounded = false
    /// The time by which segments are available before they are complete.
    package let availabilityTimeOffset: MediaTime
    /// A Boolean value that indicates whether segments are complete when ``availabilityTimeOffset`` makes them available.
    package let hasCompleteSegments: Bool
    private var values: AddressTemplate.Values
    private let periodDuration: MediaTime?
    /// A Boolean value that indicates whether the type of the representation is that of MP4 files.
    private let isMovie: Bool
    private var source = Source.none
    /// A Boolean value that indicates whether all segments have the declared duration, so that the period cuts the last.
    package private(set) var hasConstantDuration = false
    /// A Boolean value that indicates whether the last entry of the timeline repeats until the end of the period.
    private var hasOpenTimeline = false

    /// The end of a timeline whose end is not known, which leaves room for sums.
    private static let openEnd = Int64.max / 2

    /// Creates the addresses of a representation's segments.
    ///
    /// - Parameters:
    ///   - representation: The representation.
    ///   - set: The adaptation set of the representation.
    ///   - period: The period of the adaptation set.
    ///   - presentation: The manifest.
    ///   - serviceLocation: The service location whose base URLs are preferred; `nil` for none.
    package init(
        of representation: Representation,
        in set: AdaptationSet,
        of period: Period,
        in presentation: MediaPresentation,
        preferring serviceLocation: String? = nil
    ) {
        let levels = [representation.element, set.element, period.element]
        baseAddresses = BaseAddress.resolve(
            [presentation.element] + levels.reversed(),
            against: presentation.address,
            isDVB: presentation.isDVB,
            preferring: serviceLocation
        )
        let information = SegmentInformation(levels: levels)
        timescale = information?.timescale ?? 1
        presentationTimeOffset = information?.presentationTimeOffset ?? 0
        availabilityTimeOffset =
            (baseAddresses.first?.availabilityTimeOffset ?? .zero) + (information?.availabilityTimeOffset ?? .zero)
        hasCompleteSegments =
            information?[.availabilityTimeComplete].flatMap(ManifestNumber.boolean)
            ?? levels.lazy.compactMap { $0.element(.baseURL)?.boolean(.availabilityTimeComplete) }.first ?? true
        periodDuration = period.duration
        values = AddressTemplate.Values(
            representationID: representation.id ?? "",
            bandwidth: representation.bandwidth?.bitsPerSecond ?? 0
        )
        let hasBase = levels.contains { $0.element(.baseURL) != nil }
        isMovie = representation.mimeType?.lowercased().hasSuffix("/mp4") ?? false
        guard let information else {
            guard hasBase else {
                fault = .noSegmentInformation
                return
            }
            addressWholeFile()
            return
        }
        switch information.kind {
        case .base: addressIndexedFile(information)
        case .list: addressList(information)
        case .template: addressTemplate(information)
        }
    }

    private var base: ResourceAddress { baseAddresses.first?.address ?? ResourceAddress("") }

    /// The times of the period in the media.
    private var range: Range<Int64> {
        let length = periodDuration.map { units(of: $0) }
        let end = length.map { presentationTimeOffset +| $0 } ?? Self.openEnd
        return presentationTimeOffset..<max(presentationTimeOffset, end)
    }

    /// Returns a time in the units of the timescale, rounded up.
    private func units(of time: MediaTime) -> Int64 {
        let product = Int128(time.value) *| Int128(timescale)
        let (quotient, remainder) = product.quotientAndRemainder(dividingBy: Int128(max(1, time.timescale)))
        return Int64(clamping: remainder > 0 ? quotient +| 1 : quotient)
    }

    // MARK: Kinds of segment information

    private mutating func addressTemplate(_ information: SegmentInformation) {
        if let text = information[.initialization] {
            let address = AddressTemplate(text).text(values)
            initialization = AddressedResource(address: base.resolving(ManifestNumber.trimmed(address)))
        } else {
            initialization = information.element(.initialization).map { resource($0, range: .range) }
        }
        guard let media = information[.media], let times = times(information) else {
            fault = fault ?? .incompleteTemplate
            return
        }
        source = .template(AddressTemplate(ManifestNumber.trimmed(media)), times)
    }

    /// Returns the times of segments with a timeline or a constant duration, or `nil` if there is neither.
    private mutating func times(_ information: SegmentInformation) -> SegmentTimes? {
        let (startNumber, endNumber) = (information.startNumber, information.endNumber)
        // Numbers of the manifest are clamped.
        if presentationTimeOffset == .max || information.timeline?.contains(where: { $0.time == .max }) ?? false {
            fault = .excessiveTime
            return nil
        }
        if let timeline = information.timeline {
            hasOpenTimeline = timeline.last.map { $0.repeatCount < 0 } ?? false
            isUnbounded = periodDuration == nil && hasOpenTimeline
            return SegmentTimes(timeline, startNumber: startNumber, endNumber: endNumber, range: range)
        }
        guard let duration = information.duration else { return nil }
        isUnbounded = periodDuration == nil && endNumber == nil
        hasConstantDuration = true
        // The first segment can begin before or after the period (§5.3.9.2.2).
        let difference = information[.eptDelta].flatMap(ManifestNumber.integer) ?? 0
        let first = min(max(range.lowerBound +| difference, range.lowerBound -| duration), range.upperBound)
        return SegmentTimes(
            duration: duration,
            startNumber: startNumber,
            endNumber: endNumber,
            range: first..<range.upperBound
        )
    }

    private mutating func addressList(_ information: SegmentInformation) {
        initialization = information.element(.initialization).map { resource($0, range: .range) }
        let resources = information.elements(.segmentURL).map { element in
            AddressedResource(
                address: element[.media].map { base.resolving(ManifestNumber.trimmed($0)) } ?? base,
                byteRange: element.byteRange(.mediaRange)
            )
        }
        if var times = times(information) {
            isUnbounded = false
            times.limit(to: Int64(clamping: resources.count))
            source = .list(resources, times)
        } else if let first = resources.first, resources.count == 1, let periodDuration {
            let times = SegmentTimes(
                duration: max(1, units(of: periodDuration)),
                startNumber: information.startNumber,
                endNumber: nil,
                range: range
            )
            source = .list([first], times)
        } else {
            fault = fault ?? .incompleteTemplate
        }
    }

    private mutating func addressIndexedFile(_ information: SegmentInformation) {
        initialization = information.element(.initialization).map { resource($0, range: .range) }
        if let element = information.element(.representationIndex) {
            index = resource(element, range: .range)
        } else if let range = information.indexRange {
            index = AddressedResource(address: base, byteRange: range)
            if initialization == nil, let head = ByteRange(start: 0, length: range.start), head.length > 0 {
                initialization = AddressedResource(address: base, byteRange: head)
            }
        }
        if index == nil { addressWholeFile() }
    }

    private mutating func addressWholeFile() {
        // A movie file that consists of fragments has its segment index at the beginning.
        if isMovie { index = AddressedResource(address: base) }
        guard let periodDuration else {
            if !isMovie { fault = .unknownDuration }
            return
        }
        source = .wholeFile(duration: periodDuration)
    }

    private func resource(_ element: ManifestElement, range: AttributeName) -> AddressedResource {
        AddressedResource(
            address: element[.sourceURL].map { base.resolving(ManifestNumber.trimmed($0)) } ?? base,
            byteRange: element.byteRange(range)
        )
    }

    // MARK: Segments

    /// A Boolean value that indicates whether the segments are known only after ``index`` is loaded.
    package var needsIndex: Bool {
        switch source {
        case .index: false
        case .template, .list, .wholeFile, .none: index != nil
        }
    }

    /// The segments that the segment index lists, or `nil` if they are found in another way.
    package var indexedFile: IndexedFile? {
        guard case .index(let segments) = source else { return nil }
        return IndexedFile(segments, initialization: index?.byteRange == nil ? initialization?.byteRange : nil)
    }

    /// Sets the segments that the segment index lists.
    package mutating func setIndex(_ file: IndexedFile) {
        source = .index(file.segments)
        guard initialization == nil, let range = file.initialization else { return }
        initialization = AddressedResource(address: index?.address ?? base, byteRange: range)
    }

    /// The number of segments, which may be astronomical; ``isUnbounded`` tells whether it has a meaning.
    package var count: Int64 {
        switch source {
        case .template(_, let times), .list(_, let times): times.count
        case .index(let segments): Int64(clamping: segments.count)
        case .wholeFile: 1
        case .none: 0
        }
    }

    /// The resources of a list of segments, or that of the first segment, of which the others differ in a number or a range.
    package var distinctResources: [AddressedResource] {
        if case .list(let resources, _) = source { return resources }
        return segment(at: 0).map { [$0.resource] } ?? []
    }

    /// A Boolean value that indicates whether a segment can have a size that is known before it is loaded.
    package var canDeclareByteCounts: Bool {
        switch source {
        case .index, .list: true
        case .template, .wholeFile, .none: false
        }
    }

    /// The size of a segment, in bytes, or `nil` if the manifest and the segment index do not declare it.
    package func byteCount(at index: Int64) -> Int64? {
        guard index >= 0, index < count else { return nil }
        switch source {
        case .index(let segments): return segments[Int(clamping: index)].byteRange.length
        case .list(let resources, _): return resources[Int(clamping: index)].byteRange?.length
        case .template, .wholeFile, .none: return nil
        }
    }

    /// The length of the URL of each segment, in bytes; `nil` if the manifest lists the URLs.
    ///
    /// The numbers in the URLs of later segments can have more digits than that of the first one.
    package var addressLength: Int64? {
        switch source {
        case .template, .index, .wholeFile:
            segment(at: 0).map { Int64(clamping: $0.resource.address.text.utf8.count) }
        case .list, .none: nil
        }
    }

    /// A Boolean value that indicates whether the manifest does not list the segments, so that the time of day tells which
    /// of them are available in a dynamic presentation.
    package var isLimitedByClock: Bool { hasConstantDuration || hasOpenTimeline }

    /// Returns the start and duration of the segment at an index without its address, or `nil` if there is none.
    ///
    /// - Complexity: O(log *n*) in the entries of the timeline.
    package func timing(at index: Int64) -> (start: MediaTime, duration: MediaTime)? {
        guard index >= 0, index < count else { return nil }
        switch source {
        case .template(_, let times), .list(_, let times):
            return times.entry(at: index).map { timing($0) }
        case .index(let segments):
            let segment = segments[Int(clamping: index)]
            return (segment.time - MediaTime(value: presentationTimeOffset, timescale: timescale), segment.duration)
        case .wholeFile(let duration): return (.zero, duration)
        case .none: return nil
        }
    }

    /// Returns the template of the segments' URLs with everything resolved that the segments share.
    ///
    /// - Parameter encode: Returns the form in which constant text is written, which must be that of its bytes one after
    ///   the other; the second argument tells whether the text is the beginning of the URL.
    /// - Returns: The template, or `nil` if the URLs do not follow from such a template.
    package func resolvedTemplate(encode: (String, Bool) -> String) -> ResolvedTemplate? {
        guard case .template(let template, _) = source else { return nil }
        return ResolvedTemplate(template, values, base: base, encode: encode)
    }

    /// The times of the segments in the units of the timescale, or `nil` if they are not in them.
    package var times: SegmentTimes? {
        switch source {
        case .template(_, let times), .list(_, let times): times
        case .index, .wholeFile, .none: nil
        }
    }

    /// The duration that cuts the last segment, or `nil` if segments may exceed the period.
    package var cuttingDuration: MediaTime? { hasConstantDuration ? periodDuration : nil }

    /// Returns the index of the first segment that ends after a time in the period, or ``count`` if there is none.
    ///
    /// - Complexity: O(log² *n*) in the entries of the timeline.
    package func index(endingAfter time: MediaTime) -> Int64 {
        var (low, high): (Int64, Int64) = (0, count)
        while low < high {
            let middle = low +| (high -| low) / 2
            guard let timing = timing(at: middle) else { return count }
            let next = middle +| 1
            if timing.start + timing.duration > time { high = middle } else { low = next }
        }
        return low
    }

    /// A Boolean value that indicates whether the manifest numbers the segments of a timeline.
    package var hasNumberedTimeline: Bool {
        guard case .template(let template, _) = source else { return false }
        return !hasConstantDuration && template.insertsNumbers
    }

    /// Returns the segment at an index, or `nil` if there is none.
    ///
    /// - Complexity: O(log *n*) in the entries of the timeline.
    package func segment(at index: Int64) -> AddressedSegment? {
        guard index >= 0, index < count else { return nil }
        switch source {
        case .template(let template, let times):
            guard let entry = times.entry(at: index) else { return nil }
            var values = values
            values.number = entry.number
            values.time = entry.time
            values.subNumber = entry.subNumber
            return segment(entry, AddressedResource(address: base.resolving(template.text(values))))
        case .list(let resources, let times):
            guard let entry = times.entry(at: index) else { return nil }
            return segment(entry, resources[Int(clamping: index)])
        case .index(let segments):
            let segment = segments[Int(clamping: index)]
            return AddressedSegment(
                number: index +| 1,
                time: units(of: segment.time),
                start: segment.time - MediaTime(value: presentationTimeOffset, timescale: timescale),
                duration: segment.duration,
                resource: AddressedResource(address: self.index?.address ?? base, byteRange: segment.byteRange)
            )
        case .wholeFile(let duration):
            return AddressedSegment(
                number: 1,
                time: presentationTimeOffset,
                start: .zero,
                duration: duration,
                resource: AddressedResource(address: base)
            )
        case .none: return nil
        }
    }

    private func segment(_ entry: SegmentTimes.Entry, _ resource: AddressedResource) -> AddressedSegment {
        let (start, duration) = timing(entry)
        return AddressedSegment(
            number: entry.number,
            time: entry.time,
            start: start,
            duration: duration,
            resource: resource
        )
    }

    private func timing(_ entry: SegmentTimes.Entry) -> (start: MediaTime, duration: MediaTime) {
        let start = MediaTime(value: entry.start -| presentationTimeOffset, timescale: timescale)
        var duration = MediaTime(value: entry.duration, timescale: timescale)
        if hasConstantDuration, let periodDuration, start + duration > periodDuration {
            duration = max(.zero, periodDuration - start)
        }
        return (start, duration)
    }
}
