import MediaTiming
package import ReportFormat
import ResourceAddressing
import XMLReading

extension MediaPresentation {
    /// The number of values that a report can still contain.
    private struct ReportBudget {
        /// The number of segments that are listed; later ones are omitted and counted.
        var segments: Int64 = 250_000
        /// The number of bytes of the URLs of the segments that are listed.
        var bytes: Int64 = 256 << 20
        /// The number of timeline entries and listed segments that are read to count segments.
        ///
        /// The entries of a timeline that several representations share are read for each of them.
        var entries: Int64 = 20_000_000
        /// The number of bytes of URLs that are resolved.
        var resolvedBytes: Int64 = 256 << 20
    }

    /// The contents of the manifest as a report, which `millstream inspect --json` prints; missing values are omitted.
    package var report: ReportValue {
        var remaining = ReportBudget()
        return .fields([
            "kind": .string("dash"),
            "url": address.map { .string($0.withoutUserInformation.text) },
            "type": .string(kind.rawValue),
            "duration": duration.map { .seconds($0) },
            "profiles": .strings(profiles),
            "availabilityStartTime": element[.availabilityStartTime].map { .string($0) },
            "publishTime": element[.publishTime].map { .string($0) },
            "minimumUpdatePeriod": minimumUpdatePeriod.map { .seconds($0) },
            "timeShiftBufferDepth": timeShiftBufferDepth.map { .seconds($0) },
            "periods": .array(periods.map { report($0, remaining: &remaining) }),
            "document": element.report,
            "diagnostics": .array(diagnostics.map(\.report)),
        ])
    }

    private func report(_ period: Period, remaining: inout ReportBudget) -> ReportValue {
        .fields([
            "id": period.id.map { .string($0) },
            "start": period.start.map { .seconds($0) },
            "duration": period.duration.map { .seconds($0) },
            "adaptationSets": .array(period.adaptationSets.map { report($0, in: period, remaining: &remaining) }),
        ])
    }

    private func report(
        _ set: AdaptationSet,
        in period: Period,
        remaining: inout ReportBudget
    ) -> ReportValue {
        .fields([
            "id": set.id.map { .string($0) },
            "contentType": set.mediaType.map { .string($0.rawValue) },
            "mimeType": set.mimeType.map { .string($0) },
            "language": set.language.map { .string($0) },
            "label": set.label.map { .string($0) },
            "roles": .strings(set.roles.compactMap(\.value)),
            "representations": .array(
                set.representations.map { report($0, in: set, of: period, remaining: &remaining) }
            ),
        ])
    }

    private func report(
        _ representation: Representation,
        in set: AdaptationSet,
        of period: Period,
        remaining: inout ReportBudget
    ) -> ReportValue {
        remaining.entries -|= SegmentAddressing.entryCount(of: representation, in: set, of: period)
        let size = SegmentAddressing.addressByteCount(of: representation, in: set, of: period, in: self)
        remaining.resolvedBytes -|= size
        guard remaining.entries > 0, remaining.resolvedBytes > 0 else {
            return report(representation, nil, listed: 0)
        }
        let addressing = SegmentAddressing(of: representation, in: set, of: period, in: self)
        let isListed = !addressing.isUnbounded && !addressing.needsIndex
        let length = max(1, addressing.addressLength ?? 1)
        let listed =
            isListed ? min(addressing.count, remaining.segments, remaining.bytes.dividedSaturated(by: length)) : 0
        remaining.segments -|= listed
        remaining.bytes -|= listed *| length
        return report(representation, addressing, listed: listed)
    }

    /// The fault of a representation whose segments are not counted, because the ones before are too many.
    private static let unreadFault = "too-many-segments"

    private func report(
        _ representation: Representation,
        _ addressing: SegmentAddressing?,
        listed: Int64
    ) -> ReportValue {
        let segments = ReportSequence(count: Int(clamping: listed)) { index in
            addressing?.segment(at: Int64(clamping: index))?.report ?? .object([])
        }
        let isCounted = addressing.map { !$0.isUnbounded && !$0.needsIndex } ?? false
        let omittedCount: Int64 = isCounted ? (addressing?.count ?? 0) -| listed : 0
        let fault: String? = addressing == nil ? Self.unreadFault : addressing?.fault?.rawValue
        return .fields([
            "id": representation.id.map { .string($0) },
            "bandwidth": representation.bandwidth.map { .integer($0.bitsPerSecond) },
            "mimeType": representation.mimeType.map { .string($0) },
            "codecs": representation.codecs.isEmpty ? nil : .string(representation.codecs.joined(separator: ",")),
            "width": representation.width.map { .integer($0) },
            "height": representation.height.map { .integer($0) },
            "frameRate": representation.frameRate.map { .seconds($0) },
            "audioSamplingRate": representation.audioSamplingRate.map { .integer($0) },
            "protected": representation.contentProtections.isEmpty ? nil : .bool(true),
            "segmentCount": isCounted ? addressing.map { .integer($0.count) } : nil,
            "initialization": addressing?.initialization?.report,
            "index": addressing?.index?.report,
            "segmentsOmitted": omittedCount > 0 ? .integer(omittedCount) : nil,
            "fault": fault.map { .string($0) },
            "segments": .sequence(segments),
        ])
    }
}

extension AddressedSegment {
    fileprivate var report: ReportValue {
        .fields([
            "number": .integer(number),
            "time": .integer(time),
            "start": .seconds(start),
            "duration": .seconds(duration),
            "url": .string(resource.address.withoutUserInformation.text),
            "byteRange": resource.byteRange?.report,
        ])
    }
}

extension AddressedResource {
    fileprivate var report: ReportValue {
        .fields(["url": .string(address.withoutUserInformation.text), "byteRange": byteRange?.report])
    }
}

extension ByteRange {
    fileprivate var report: ReportValue { .fields(["start": .integer(start), "length": .integer(length)]) }
}

extension ManifestDiagnostic {
    fileprivate var report: ReportValue {
        .fields([
            "line": line.map { .integer($0) },
            "severity": .string(severity.rawValue),
            "code": .string(code.rawValue),
            "message": .string(message),
            "section": .string(section),
        ])
    }
}

extension ManifestElement {
    /// The element with its attributes and contents as a report.
    ///
    /// The type of a value is the one that the definition of its attribute specifies.
    fileprivate var report: ReportValue {
        let fields = attributes.map { attribute in
            let name = AttributeName(rawValue: attribute.name.local)
            let type = name.flatMap { kind?.definition.attribute($0)?.type } ?? .string
            return ReportValue.Field(name: attribute.name.local, value: type.report(attribute.value))
        }
        let (timeline, children, text) = (timeline, children, trimmedText)
        return .fields([
            "name": .string(name.local),
            "namespace": kind == nil && !name.namespace.isEmpty ? .string(name.namespace) : nil,
            "line": .integer(line),
            "attributes": fields.isEmpty ? nil : .object(fields),
            "text": text.isEmpty ? nil : .string(text),
            "timeline": timeline.isEmpty
                ? nil : .sequence(ReportSequence(count: timeline.count) { timeline[$0].report }),
            "children": children.isEmpty
                ? nil : .sequence(ReportSequence(count: children.count) { children[$0].report }),
        ])
    }
}

extension TimelineEntry {
    fileprivate var report: ReportValue {
        .fields([
            "t": time.map { .integer($0) },
            "d": .integer(duration),
            "r": repeatCount == 0 ? nil : .integer(repeatCount),
            "n": number.map { .integer($0) },
            "k": sequenceCount == 1 ? nil : .integer(sequenceCount),
        ])
    }
}
