extension MisbehavingServer {
    /// A header field.
    public struct Field: Sendable, Hashable {
        /// The name, with the case in which it was sent.
        public let name: String
        /// The value, without surrounding white space.
        public let value: String

        /// Creates a header field.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// A request of a client.
    public struct Request: Sendable {
        /// The method, such as `GET`.
        public let method: String
        /// The request target, byte for byte, such as `/a.ts?x=%20`.
        public let targetBytes: [UInt8]
        /// The HTTP version, such as `HTTP/1.1`.
        public let version: String
        /// The header fields, in order.
        public let fields: [Field]
        /// The body; empty for most requests.
        public let body: [UInt8]
        /// The time at which the whole request had arrived, since the start of the server.
        public let time: Duration
        /// The number of the connection, beginning with 1 in the order in which connections were opened.
        public let connection: Int
        /// A Boolean value that indicates whether the connection was closed without a response, because of an earlier
        /// ``Behavior/closeIdle``.
        public let isDropped: Bool

        init(_ message: RequestMessage, time: Duration, connection: Int, isDropped: Bool) {
            method = message.method
            targetBytes = message.target
            version = message.version
            fields = message.fields
            body = message.body
            self.time = time
            self.connection = connection
            self.isDropped = isDropped
        }

        /// The request target as text; bytes that are not valid UTF-8 are replaced.
        public var target: String { String(decoding: targetBytes, as: UTF8.self) }

        /// The request target before its query, without scheme and host, and not percent-decoded.
        public var path: String {
            let end = targetBytes.firstIndex(of: UInt8(ascii: "?")) ?? targetBytes.endIndex
            let path = String(decoding: targetBytes[..<end], as: UTF8.self)
            guard path.lowercased().hasPrefix("http://") else { return path }
            let afterScheme = path.dropFirst("http://".count)
            return afterScheme.firstIndex(of: "/").map { String(afterScheme[$0...]) } ?? "/"
        }

        /// The request target after its first question mark; `nil` if there is none.
        public var query: String? {
            targetBytes.firstIndex(of: UInt8(ascii: "?")).map {
                String(decoding: targetBytes[($0 + 1)...], as: UTF8.self)
            }
        }

        /// Returns the value of the first header field with a name, ignoring case.
        public func header(_ name: String) -> String? { fields.value(of: name) }
    }
}

extension [MisbehavingServer.Field] {
    init(_ pairs: KeyValuePairs<String, String>) {
        self = pairs.map { MisbehavingServer.Field($0.key, $0.value) }
    }

    /// Returns the value of the first field with a name, ignoring case.
    func value(of name: String) -> String? {
        first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// Returns whether a comma-separated field, such as `Connection`, contains a token.
    func lists(_ word: String, in name: String) -> Bool {
        contains { field in
            field.name.lowercased() == name.lowercased()
                && field.value.lowercased().split(separator: ",").contains { $0.filter { $0 != " " } == word }
        }
    }

    /// Sets the value of a field; `nil` removes it.
    mutating func set(_ name: String, _ value: String?) {
        let position = firstIndex { $0.name.lowercased() == name.lowercased() } ?? endIndex
        removeAll { $0.name.lowercased() == name.lowercased() }
        if let value { insert(MisbehavingServer.Field(name, value), at: Swift.min(position, endIndex)) }
    }
}
