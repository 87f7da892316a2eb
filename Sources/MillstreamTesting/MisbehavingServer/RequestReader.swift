/// A request as it was read.
struct RequestMessage {
    var method: String
    var target: [UInt8]
    var version: String
    var fields: [MisbehavingServer.Field]
    var body: [UInt8] = []
}

/// Cuts what a client sends into requests.
///
/// It takes what clients with faults send, so that the faults can be seen: spaces within a target, lines that end without
/// a carriage return. What cannot be cut into a request at all is refused.
struct RequestReader {
    enum Step {
        case incomplete
        case request(RequestMessage)
        /// No request can be found here or later; the status to refuse it with.
        case malformed(Int)
    }

    /// The largest head, in bytes.
    static let headLimit = 65_536
    /// The largest body, in bytes.
    static let bodyLimit = 1 << 20

    private var unread: [UInt8] = []
    private var searched = 0
    private var waiting: (message: RequestMessage, bodyCount: Int)?

    /// How many bytes were not made a request yet.
    var unreadCount: Int { unread.count }

    /// Takes what has arrived.
    mutating func append(_ bytes: some Collection<UInt8>) { unread += bytes }

    /// Reads the next request, if all of it is there.
    mutating func next() -> Step {
        if waiting == nil {
            guard let end = endOfHead() else { return unread.count > Self.headLimit ? .malformed(431) : .incomplete }
            let head = unread[..<end]
            guard head.count <= Self.headLimit else { return .malformed(431) }
            guard let message = Self.parse(head) else { return .malformed(400) }
            unread.removeFirst(end)
            searched = 0
            guard message.fields.value(of: "Transfer-Encoding") == nil else { return .malformed(411) }
            let length = message.fields.value(of: "Content-Length") ?? "0"
            guard let count = decimal(length) else { return .malformed(400) }
            guard count <= Self.bodyLimit else { return .malformed(413) }
            waiting = (message, count)
        }
        guard let (head, count) = waiting, unread.count >= count else { return .incomplete }
        var message = head
        message.body = Array(unread.prefix(count))
        unread.removeFirst(count)
        waiting = nil
        return .request(message)
    }

    /// Where the head ends, behind its empty line; empty lines before a request are skipped (RFC 9112 §2.2).
    private mutating func endOfHead() -> Int? {
        if searched == 0 { unread = Array(unread.drop { $0 == 0x0D || $0 == 0x0A }) }
        var index = searched
        while index < unread.count {
            if unread[index] == 0x0A, index > 0 {
                let before = unread[index - 1] == 0x0D && index > 1 ? unread[index - 2] : unread[index - 1]
                if before == 0x0A { return index + 1 }
            }
            index += 1
        }
        searched = index
        return nil
    }

    private static func parse(_ head: ArraySlice<UInt8>) -> RequestMessage? {
        var lines = head.split(separator: 0x0A).map { $0.last == 0x0D ? $0.dropLast() : $0 }
        guard !lines.isEmpty else { return nil }
        let first = lines.removeFirst()
        guard let methodEnd = first.firstIndex(of: 0x20), let versionStart = first.lastIndex(of: 0x20),
            methodEnd > first.startIndex, methodEnd + 1 < versionStart
        else { return nil }
        let version = String(decoding: first[(versionStart + 1)...], as: UTF8.self)
        guard version.hasPrefix("HTTP/1.") else { return nil }
        var fields: [MisbehavingServer.Field] = []
        for line in lines where !line.isEmpty {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex else { return nil }
            let value = line[(colon + 1)...].drop { $0 == 0x20 || $0 == 0x09 }
            let end = value.lastIndex { $0 != 0x20 && $0 != 0x09 }.map { $0 + 1 } ?? value.startIndex
            let name = String(decoding: line[..<colon], as: UTF8.self)
            fields.append(.init(name, String(decoding: value[..<end], as: UTF8.self)))
        }
        return RequestMessage(
            method: String(decoding: first[..<methodEnd], as: UTF8.self),
            target: Array(first[(methodEnd + 1)..<versionStart]),
            version: version,
            fields: fields
        )
    }
}

/// Reads a number of digits only; `Int` alone would also take a sign.
func decimal(_ text: some StringProtocol) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(text)
}
