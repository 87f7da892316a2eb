import MediaTiming

extension MisbehavingServer {
    /// What is served at a path.
    public struct Resource: Sendable {
        /// What a client can compare to see whether a resource is still the same.
        public struct Validators: OptionSet, Sendable {
            /// The set as bits.
            public let rawValue: Int
            /// Makes a set of bits.
            public init(rawValue: Int) { self.rawValue = rawValue }

            /// A strong `ETag`, made of the content.
            public static let entityTag = Validators(rawValue: 1)
            /// A weak `ETag`, which does for `If-None-Match` and not for `If-Range`.
            public static let weakEntityTag = Validators(rawValue: 2)
            /// A `Last-Modified` date.
            public static let lastModified = Validators(rawValue: 4)
        }

        /// The content.
        public var bytes: [UInt8]
        /// The media type; without one no `Content-Type` is sent.
        public var contentType: String?
        /// Header fields besides those that the server writes itself.
        ///
        /// A `Content-Length` or `Transfer-Encoding` here is sent in place of the right one.
        public var fields: [Field]
        /// The value of `ETag`, with its quotes.
        public var entityTag: String?
        /// The value of `Last-Modified`.
        public var lastModified: String?
        /// Whether a `Range` is answered with 206 rather than with the whole.
        public var servesRanges: Bool

        private var version = 0

        /// Makes a resource.
        ///
        /// - Parameters:
        ///   - bytes: The content.
        ///   - contentType: The media type; `nil` for none.
        ///   - headers: More header fields, in their order.
        ///   - validators: What the server says of the version of the content.
        ///   - servesRanges: Whether parts of it can be had.
        public init(
            _ bytes: [UInt8],
            contentType: String? = "application/octet-stream",
            headers: KeyValuePairs<String, String> = [:],
            validators: Validators = [.entityTag, .lastModified],
            servesRanges: Bool = true
        ) {
            self.bytes = bytes
            self.contentType = contentType
            self.servesRanges = servesRanges
            fields = .init(headers)
            let quoted = "\"\(Self.digest(bytes))\""
            entityTag = validators.contains(.entityTag) ? quoted : nil
            if validators.contains(.weakEntityTag) { entityTag = "W/" + quoted }
            lastModified = validators.contains(.lastModified) ? Self.date(0) : nil
        }

        /// A resource of text.
        public static func text(_ text: String, contentType: String? = "text/plain; charset=utf-8") -> Resource {
            Resource(Array(text.utf8), contentType: contentType)
        }

        /// The same resource after someone wrote a new version: every byte differs, the length does not.
        func changed() -> Resource {
            var changed = self
            changed.version += 1
            changed.bytes = bytes.map { ~$0 }
            let isWeak = entityTag?.hasPrefix("W/") == true
            changed.entityTag = entityTag.map { _ in
                // The count keeps apart the second version and the fourth, which have the same bytes.
                "\(isWeak ? "W/" : "")\"\(Self.digest(changed.bytes))-\(changed.version)\""
            }
            changed.lastModified = lastModified.map { _ in Self.date(changed.version) }
            return changed
        }

        /// Returns a stable hash of bytes, in hexadecimal.
        private static func digest(_ bytes: [UInt8]) -> String { String(StableHash(bytes).value, radix: 16) }

        /// A date of HTTP, one second later for each version.
        private static func date(_ version: Int) -> String {
            let (minute, second) = (version / 60 % 60, version % 60)
            return "Wed, 01 Jan 2025 00:\(minute < 10 ? "0" : "")\(minute):\(second < 10 ? "0" : "")\(second) GMT"
        }
    }
}
