/// The correct response to a request for a resource.
extension Response {
    /// Responds as a correct server does, with support for ranges, conditional requests and other methods.
    mutating func respond(to request: MisbehavingServer.Request, with resource: MisbehavingServer.Resource) {
        guard request.method == "GET" || request.method == "HEAD" else {
            return replace(405, [Field("Allow", "GET, HEAD")])
        }
        respondWithWhole(resource)
        if Self.isUnchanged(resource, for: request) {
            fields.set("Content-Type", nil)
            (status, body) = (304, [])
        } else if let ranges = Self.ranges(request, resource) {
            respond(with: ranges, of: resource)
        }
    }

    /// Responds with the whole resource.
    mutating func respondWithWhole(_ resource: MisbehavingServer.Resource) {
        var fields: [Field] = []
        if let type = resource.contentType { fields.append(Field("Content-Type", type)) }
        fields.append(Field("Accept-Ranges", resource.servesRanges ? "bytes" : "none"))
        if let tag = resource.entityTag { fields.append(Field("ETag", tag)) }
        if let date = resource.lastModified { fields.append(Field("Last-Modified", date)) }
        replace(200, fields + resource.fields, resource.bytes)
    }

    /// Responds with one range, with several, or with 416 if there are none.
    mutating func respond(with ranges: [Range<Int>], of resource: MisbehavingServer.Resource) {
        switch ranges.count {
        case 0: replace(416, [Field("Content-Range", "bytes */\(resource.bytes.count)")])
        case 1: respond(with: ranges[0], contentRange: Self.contentRange(ranges[0], of: resource), of: resource)
        default: respondWithMultipart(ranges, of: resource)
        }
    }

    /// Responds with a range and an arbitrary `Content-Range` value; `nil` omits the field.
    mutating func respond(with range: Range<Int>, contentRange label: String?, of resource: MisbehavingServer.Resource)
    {
        respondWithWhole(resource)
        status = 206
        body = Array(resource.bytes[range])
        fields.set("Content-Range", label)
    }

    /// Responds with `multipart/byteranges` (RFC 9110 §14.6).
    mutating func respondWithMultipart(_ ranges: [Range<Int>], of resource: MisbehavingServer.Resource) {
        let boundary = "boundary-of-a-misbehaving-server"
        respondWithWhole(resource)
        status = 206
        body = ranges.reduce(into: []) { body, range in
            let type = resource.contentType.map { "Content-Type: \($0)\r\n" } ?? ""
            let head = "\r\n--\(boundary)\r\n\(type)Content-Range: \(Self.contentRange(range, of: resource))\r\n\r\n"
            body += Array(head.utf8) + resource.bytes[range]
        }
        body += Array("\r\n--\(boundary)--\r\n".utf8)
        fields.set("Content-Type", "multipart/byteranges; boundary=\(boundary)")
    }

    /// Returns the `Content-Range` value of a range that is not empty.
    static func contentRange(_ range: Range<Int>, of resource: MisbehavingServer.Resource) -> String {
        "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(resource.bytes.count)"
    }

    /// Returns the requested ranges that are satisfiable; `nil` to send the whole resource.
    private static func ranges(
        _ request: MisbehavingServer.Request,
        _ resource: MisbehavingServer.Resource
    ) -> [Range<Int>]? {
        // Ranges are defined for GET only (RFC 9110 §14.2).
        guard resource.servesRanges, request.method == "GET", let value = request.header("Range") else { return nil }
        if !resource.ignoresIfRange, let condition = request.header("If-Range") {
            // A weak validator never matches `If-Range` (RFC 9110 §13.1.5).
            let tag = resource.entityTag.flatMap { $0.hasPrefix("W/") ? nil : $0 }
            guard condition == tag || condition == resource.lastModified else { return nil }
        }
        return RangeRequest.ranges(value, of: resource.bytes.count)
    }

    /// Returns whether the client already has this version of the resource.
    ///
    /// Dates are compared as text, since clients repeat the date that this server sent.
    private static func isUnchanged(
        _ resource: MisbehavingServer.Resource,
        for request: MisbehavingServer.Request
    ) -> Bool {
        guard let known = request.header("If-None-Match") else {
            return resource.lastModified.map { $0 == request.header("If-Modified-Since") } ?? false
        }
        if known == "*" { return true }
        guard let tag = resource.entityTag else { return false }
        let tags = known.split(separator: ",").map { withoutWeakness($0.drop { $0 == " " }) }
        return tags.contains(withoutWeakness(tag[...]))
    }

    private static func withoutWeakness(_ tag: Substring) -> Substring {
        let tag = tag.hasPrefix("W/") ? tag.dropFirst(2) : tag
        return tag.lastIndex { $0 != " " }.map { tag[...$0] } ?? ""
    }
}
