import DASHManifest
import HLSPlaylist
import MediaTiming
import SegmentFormat
import XMLReading

/// A translation of the events of a manifest and of its segments to date ranges (RFC 8216bis §4.4.5.1).
struct EventTranslation {
    /// The maximum length of the message of an event; longer messages are left out.
    private static let maximumMessageLength = 4_096
    private static let spliceSchemes: Set<String> = [
        "urn:scte:scte35:2013:bin", "urn:scte:scte35:2014:bin", "urn:scte:scte35:2014:xml+bin",
    ]

    private let origin: MediaTime
    private let maximumCount: Int
    /// The attributes of the date ranges.
    private(set) var dateRanges: [String] = []
    private var ids: Set<String> = []
    private var undatedCount = 0
    /// The number of events that are left out because of the length of the texts that identify them.
    private var tooLongCount = 0

    /// The contents of an event.
    private enum Message {
        case text(String)
        /// Bytes that are not text, or a splice information section.
        case bytes([UInt8])
        case none
    }

    /// Creates a translation of the events of all periods, in order.
    ///
    /// - Parameters:
    ///   - plan: The periods and segments.
    ///   - messages: The event messages of the segments that were read, or `nil` if none were.
    ///   - origin: The date of the start of the timeline.
    ///   - limits: The maximum number of events.
    ///   - losses: The list to which events that are left out are added.
    ///   - checkCancellation: A function that is called before each event.
    /// - Throws: The error of `checkCancellation`.
    init(
        of plan: PresentationPlan,
        messages: [AddressedResource: [EventMessage]]?,
        origin: MediaTime,
        limits: TranslationLimits,
        losses: inout TranslationLosses,
        checkCancellation: () throws -> Void = {}
    ) throws {
        self.origin = origin
        maximumCount = limits.eventCount
        for period in plan.periods {
            try addListedEvents(of: period, losses: &losses, checkCancellation)
            for events in InbandEvents.all(in: period) {
                guard let messages else {
                    losses.append(.inbandEvents, "the events in the segments are not in the playlist")
                    continue
                }
                try checkCancellation()
                addEvents(events, messages, of: period, limits, losses: &losses)
            }
        }
        if undatedCount > 0 { losses.append(.event, "the dates of \(undatedCount) events are not from 1970 to 9999") }
        if tooLongCount > 0 {
            let names = "a scheme, value and identifier of more than \(Self.maximumNameLength) bytes"
            losses.append(.event, "\(tooLongCount) events have \(names)")
        }
        if ids.count > dateRanges.count { losses.append(.event, "there are more than \(maximumCount) events") }
    }

    // MARK: Events of the manifest

    /// A Boolean value that indicates whether there are more events than the limit allows.
    private var isFull: Bool { ids.count > maximumCount }

    private mutating func addListedEvents(
        of period: PeriodPlan,
        losses: inout TranslationLosses,
        _ checkCancellation: () throws -> Void
    ) throws {
        // Events beyond the limit are not read.
        guard !isFull else { return }
        for stream in period.period.eventStreams {
            // Read once for all events, because they can be long.
            let (scheme, value) = (stream.scheme, stream.value)
            guard Self.areShort([period.key, scheme, value ?? ""]) else {
                tooLongCount +|= stream.events.count
                continue
            }
            for event in stream.events {
                guard !isFull else { return }
                try checkCancellation()
                let message = Self.message(of: event)
                if case .none = message, !event.children.isEmpty || !Self.text(of: event).isEmpty {
                    losses.append(
                        .event,
                        "the contents of an event are not part of its date range",
                        line: event.line
                    )
                }
                // The position of an event changes in a list that slides.
                let id = event[.id] ?? "at-\(stream.start(of: event))"
                add(
                    id,
                    of: period,
                    scheme: scheme,
                    value: value,
                    start: period.start + max(.zero, stream.start(of: event)),
                    duration: stream.duration(of: event),
                    message
                )
            }
        }
    }

    private static func text(of event: ManifestElement) -> String { event[.messageData] ?? event.trimmedText }

    private static func message(of event: ManifestElement) -> Message {
        if let section = spliceSection(event) { return .bytes(section) }
        guard event.children.isEmpty else { return .none }
        let text = text(of: event)
        if event[.contentEncoding] == "base64", text.utf8.count <= maximumMessageLength *| 2,
            let bytes = Base64.decode(text)
        {
            return message(of: bytes)
        }
        return text.isEmpty || text.utf8.count > maximumMessageLength ? .none : .text(text)
    }

    /// Returns the splice information section of an event (SCTE 214-1 §6.8.4).
    private static func spliceSection(_ event: ManifestElement) -> [UInt8]? {
        guard let signal = event.children.first(where: { $0.name.local.hasSuffix("Signal") }),
            let binary = signal.children.first(where: { $0.name.local.hasSuffix("Binary") }),
            binary.text.utf8.count <= maximumMessageLength, let bytes = Base64.decode(binary.text),
            isSpliceSection(bytes)
        else { return nil }
        return bytes
    }

    /// Returns a Boolean value that indicates whether bytes are a splice information section.
    ///
    /// It has at least eleven bytes (SCTE 35 §9.6) and declares its length after the table identifier.
    private static func isSpliceSection(_ bytes: [UInt8]) -> Bool {
        bytes.count >= 11 && bytes[0] == 0xFC && (Int(bytes[1] & 0x0F) << 8 | Int(bytes[2])) == bytes.count -| 3
    }

    // MARK: Events of segments

    private mutating func addEvents(
        _ events: InbandEvents,
        _ messages: [AddressedResource: [EventMessage]],
        of period: PeriodPlan,
        _ limits: TranslationLimits,
        losses: inout TranslationLosses
    ) {
        var missingCount = 0
        let segments = events.segments(maximumCount: limits.eventSegmentCount)
        for segment in segments {
            guard let found = messages[segment.resource] else {
                missingCount +|= 1
                continue
            }
            for message in found where events.contains(message) {
                add(
                    "\(message.id)",
                    of: period,
                    scheme: message.schemeIdentifier,
                    value: message.value.isEmpty ? nil : message.value,
                    start: period.start + max(.zero, events.start(of: message, in: segment)),
                    duration: message.duration,
                    Self.message(of: message.message)
                )
                if message.message.count > Self.maximumMessageLength {
                    losses.append(.event, "the contents of an event are not part of its date range")
                }
            }
        }
        missingCount +|= Int(clamping: Int64(events.section.range.count) -| Int64(segments.count))
        if missingCount > 0 {
            losses.append(.inbandEvents, "the events in \(missingCount) segments are not in the playlist")
        }
    }

    private static func message(of bytes: [UInt8]) -> Message {
        guard !bytes.isEmpty, bytes.count <= maximumMessageLength else { return .none }
        guard let text = String(validating: bytes, as: UTF8.self), PlaylistText.quotable(text) == text else {
            return .bytes(bytes)
        }
        return .text(text)
    }

    // MARK: Date ranges

    /// The maximum number of bytes of the texts that identify an event, which have about a hundred in real manifests.
    ///
    /// Each event of a stream repeats its scheme and value, and each playlist repeats all events. An identifier that consists of
    /// longer texts would be cut off, and could be that of several events.
    private static let maximumNameLength = 2_048

    /// Returns a Boolean value that indicates whether texts that identify an event are not longer than allowed together.
    private static func areShort(_ names: [String]) -> Bool {
        names.reduce(0) { $0 +| $1.utf8.count } <= maximumNameLength
    }

    private mutating func add(
        _ identifier: String,
        of period: PeriodPlan,
        scheme: String,
        value: String?,
        start: MediaTime,
        duration: MediaTime?,
        _ message: Message
    ) {
        let date = origin + start
        guard MediaTime.zero <= date, date < PresentationTranslator.maximumDate else {
            undatedCount +|= 1
            return
        }
        let names = [period.key, scheme, value ?? "", identifier]
        guard Self.areShort(names) else {
            tooLongCount +|= 1
            return
        }
        // Messages with the same identifier are repetitions of one event.
        let id = names.joined(separator: "/")
        guard ids.count <= maximumCount, ids.insert(id).inserted, dateRanges.count < maximumCount else { return }
        var attributes = AttributeWriter()
        attributes.append("ID", quoted: id)
        if !scheme.isEmpty { attributes.append("CLASS", quoted: scheme) }
        attributes.append("START-DATE", quoted: ProgramDateTime(sinceEpoch: date).description)
        attributes.append("DURATION", token: duration.map { $0.description })
        switch message {
        case .bytes(let bytes) where Self.spliceSchemes.contains(scheme) && Self.isSpliceSection(bytes):
            attributes.append("SCTE35-CMD", token: Self.hexadecimal(bytes))
            dateRanges.append(attributes.text)
            return
        case .bytes(let bytes):
            attributes.append("X-VALUE", quoted: value)
            attributes.append("X-MESSAGE-DATA", token: Self.hexadecimal(bytes))
        case .text(let text):
            attributes.append("X-VALUE", quoted: value)
            attributes.append("X-MESSAGE-DATA", quoted: text)
        case .none: attributes.append("X-VALUE", quoted: value)
        }
        dateRanges.append(attributes.text)
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return "0x" + String(decoding: text, as: UTF8.self)
    }
}
