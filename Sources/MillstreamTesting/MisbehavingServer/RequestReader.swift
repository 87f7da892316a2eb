/// A parsed request.
struct RequestMessage {
    var method: String
    var target: [UInt8]
    var version: String
    var fields: [MisbehavingServer.Field]
    var body: [UInt8] = []
}

/// A parser that splits the bytes of a client into requests.
///
/// It tolerates faults of clients, such as spaces in a target or lines without a carriage return, so that tests can
/// observe them. Bytes that cannot be split into requests are refused.
struct RequestReader {
    enum Step {
        case incomplete
        case request(RequestMessage)
        /// The bytes cannot be parsed from here on; the associated value is the status of the response.
        case malformed(Int)
    }

    /// The maximum size of a head, in bytes.
    static let headLimit = 65_536
    /// The maximum size of a body, in bytes.
    static let bodyLimit = 1 << 20

    private var unread: [UInt8] = []
    private var searched = 0
    private var waiting: (message: RequestMessage, bodyCount: Int)?

    /// The number of bytes that are not yet part of a parsed request.
    var unreadCount: Int { unread.count }

    /// Appends received bytes.
    mutating func append(_ bytes: some Collection<UInt8>) { unread += bytes }

    /// Parses the next request, if it has arrived completely.
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

    /// Returns the index after the empty line that ends the head; empty lines before a request are skipped (RFC 9112
    /// §2.2).
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

/// Parses a number that consists of digits only; `Int` would also accept a sign.
func decimal(_ text: some StringProtocol) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(text)
}
