import DASHManifest
import HLSPlaylist
import MediaTiming
import XMLReading

/// A namespace for the date ranges of the events that a manifest lists (RFC 8216bis §4.4.5.1).
enum EventTranslation {
    /// The maximum length of the message of an event; longer messages are left out.
    private static let maximumMessageLength = 4_096
    private static let spliceScheme = "urn:scte:scte35:2014:xml+bin"

    /// Returns the attributes of the date ranges of all periods, in order.
    static func dateRanges(
        of plan: PresentationPlan,
        origin: MediaTime,
        limits: TranslationLimits,
        losses: inout TranslationLosses
    ) -> [String] {
        var result: [String] = []
        var ids: Set<String> = []
        for period in plan.periods {
            for (number, stream) in period.period.eventStreams.enumerated() {
                for (position, event) in stream.events.enumerated() {
                    guard result.count < limits.eventCount else {
                        losses.append(.event, "there are more than \(limits.eventCount) events")
                        return result
                    }
                    let id = "\(period.key)/\(number)/\(event[.id] ?? "\(position)")"
                    guard ids.insert(id).inserted else { continue }
                    result.append(
                        attributes(of: event, in: stream, id: id, origin: origin + period.start, losses: &losses)
                    )
                }
            }
        }
        return result
    }

    private static func attributes(
        of event: ManifestElement,
        in stream: EventStream,
        id: String,
        origin: MediaTime,
        losses: inout TranslationLosses
    ) -> String {
        let start = origin + max(.zero, stream.start(of: event))
        var attributes = AttributeWriter()
        attributes.append("ID", quoted: id)
        if !stream.scheme.isEmpty { attributes.append("CLASS", quoted: stream.scheme) }
        attributes.append("START-DATE", quoted: ProgramDateTime(sinceEpoch: start).description)
        attributes.append("DURATION", token: stream.duration(of: event).map { $0.description })
        if stream.scheme == spliceScheme, let command = spliceCommand(event) {
            attributes.append("SCTE35-CMD", token: command)
            return attributes.text
        }
        attributes.append("X-VALUE", quoted: stream.value)
        let message = event[.messageData] ?? event.trimmedText
        if !event.children.isEmpty || message.utf8.count > maximumMessageLength {
            losses.append(.event, "the contents of an event are not part of its date range", line: event.line)
        } else if !message.isEmpty {
            attributes.append("X-MESSAGE-DATA", quoted: message)
        }
        return attributes.text
    }

    /// Returns the splice information section of an event as a hexadecimal sequence (SCTE 214-1 §6.8.4).
    private static func spliceCommand(_ event: ManifestElement) -> String? {
        guard let signal = event.children.first(where: { $0.name.local.hasSuffix("Signal") }),
            let binary = signal.children.first(where: { $0.name.local.hasSuffix("Binary") }),
            binary.text.utf8.count <= maximumMessageLength, let bytes = Base64.decode(binary.text), bytes.count >= 11,
            // A section has at least eleven bytes (SCTE 35 §9.6) and declares its length after the table identifier.
            bytes[0] == 0xFC, (Int(bytes[1] & 0x0F) << 8 | Int(bytes[2])) == bytes.count -| 3
        else { return nil }
        let digits = Array("0123456789ABCDEF".utf8)
        let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return "0x" + String(decoding: text, as: UTF8.self)
    }
}
