extension MisbehavingServer {
    /// A header field as it was sent.
    public struct Field: Sendable, Hashable {
        /// The name, in the case it was sent in.
        public let name: String
        /// The value without the space around it.
        public let value: String

        /// Makes a field.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// What a client asked.
    public struct Request: Sendable {
        /// The method, such as `GET`.
        public let method: String
        /// The target byte for byte, such as `/a.ts?x=%20`.
        public let targetBytes: [UInt8]
        /// The version, such as `HTTP/1.1`.
        public let version: String
        /// The header fields, in their order.
        public let fields: [Field]
        /// The body; empty for most requests.
        public let body: [UInt8]
        /// When all of it had arrived, since the server started.
        public let time: Duration
        /// The number of its connection: 1 for the first one that was opened.
        public let connection: Int
        /// Whether its connection was closed instead of answering it: ``Behaviour/closeIdle`` came before it.
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

        /// The target as text; bytes that are no UTF-8 are replaced.
        public var target: String { String(decoding: targetBytes, as: UTF8.self) }

        /// The target up to its query, without scheme and host where it had them, and not decoded.
        public var path: String {
            let end = targetBytes.firstIndex(of: UInt8(ascii: "?")) ?? targetBytes.endIndex
            let path = String(decoding: targetBytes[..<end], as: UTF8.self)
            guard path.lowercased().hasPrefix("http://") else { return path }
            let afterScheme = path.dropFirst("http://".count)
            return afterScheme.firstIndex(of: "/").map { String(afterScheme[$0...]) } ?? "/"
        }

        /// What follows the first question mark of the target; `nil` where there is none.
        public var query: String? {
            targetBytes.firstIndex(of: UInt8(ascii: "?")).map {
                String(decoding: targetBytes[($0 + 1)...], as: UTF8.self)
            }
        }

        /// The value of the first header field with a name, in any case.
        public func header(_ name: String) -> String? { fields.value(of: name) }
    }
}

extension [MisbehavingServer.Field] {
    init(_ pairs: KeyValuePairs<String, String>) {
        self = pairs.map { MisbehavingServer.Field($0.key, $0.value) }
    }

    /// The value of the first field with a name, in any case.
    func value(of name: String) -> String? {
        first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// Whether a field that lists words, such as `Connection`, has this one.
    func lists(_ word: String, in name: String) -> Bool {
        contains { field in
            field.name.lowercased() == name.lowercased()
                && field.value.lowercased().split(separator: ",").contains { $0.filter { $0 != " " } == word }
        }
    }

    /// Gives a field another value; `nil` takes it away.
    mutating func set(_ name: String, _ value: String?) {
        let place = firstIndex { $0.name.lowercased() == name.lowercased() } ?? endIndex
        removeAll { $0.name.lowercased() == name.lowercased() }
        if let value { insert(MisbehavingServer.Field(name, value), at: Swift.min(place, endIndex)) }
    }
}
