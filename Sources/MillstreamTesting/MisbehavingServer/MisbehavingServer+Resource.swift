import MediaTiming

extension MisbehavingServer {
    /// The resource at a path.
    public struct Resource: Sendable {
        /// The validators with which a client can detect that a resource has changed.
        public struct Validators: OptionSet, Sendable {
            /// The bit mask.
            public let rawValue: Int
            /// Creates a set from a bit mask.
            public init(rawValue: Int) { self.rawValue = rawValue }

            /// A strong `ETag`, derived from the content.
            public static let entityTag = Validators(rawValue: 1)
            /// A weak `ETag`, which is valid for `If-None-Match` but not for `If-Range`.
            public static let weakEntityTag = Validators(rawValue: 2)
            /// A `Last-Modified` date.
            public static let lastModified = Validators(rawValue: 4)
        }

        /// The content.
        public var bytes: [UInt8]
        /// The media type; if `nil`, no `Content-Type` is sent.
        public var contentType: String?
        /// Additional header fields.
        ///
        /// `Content-Length` or `Transfer-Encoding` replaces the correct one.
        public var fields: [Field]
        /// The value of `ETag`, including its quotation marks.
        public var entityTag: String?
        /// The value of `Last-Modified`.
        public var lastModified: String?
        /// A Boolean value that indicates whether a request with `Range` is answered with 206.
        public var servesRanges: Bool
        /// A Boolean value that indicates whether `If-Range` is ignored, so that a range of a changed resource is answered
        /// with 206.
        public var ignoresIfRange = false

        private var version = 0

        /// Creates a resource.
        ///
        /// - Parameters:
        ///   - bytes: The content.
        ///   - contentType: The media type; `nil` for none.
        ///   - headers: Additional header fields, in order.
        ///   - validators: The validators that are sent.
        ///   - servesRanges: A Boolean value that indicates whether range requests are supported.
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

        /// Returns a resource with text content.
        public static func text(_ text: String, contentType: String? = "text/plain; charset=utf-8") -> Resource {
            Resource(Array(text.utf8), contentType: contentType)
        }

        /// Returns a new version of the resource, with the same length and every byte changed.
        func changed() -> Resource {
            var changed = self
            changed.version += 1
            changed.bytes = bytes.map { ~$0 }
            let isWeak = entityTag?.hasPrefix("W/") == true
            changed.entityTag = entityTag.map { _ in
                // Versions two and four have the same bytes, so the version number is a part of the tag.
                "\(isWeak ? "W/" : "")\"\(Self.digest(changed.bytes))-\(changed.version)\""
            }
            changed.lastModified = lastModified.map { _ in Self.date(changed.version) }
            return changed
        }

        /// Returns a stable hash of bytes, in hexadecimal.
        private static func digest(_ bytes: [UInt8]) -> String { String(StableHash(bytes).value, radix: 16) }

        /// Returns an HTTP date, one second later for each version.
        private static func date(_ version: Int) -> String {
            let (minute, second) = (version / 60 % 60, version % 60)
            return "Wed, 01 Jan 2025 00:\(minute < 10 ? "0" : "")\(minute):\(second < 10 ? "0" : "")\(second) GMT"
        }
    }
}
