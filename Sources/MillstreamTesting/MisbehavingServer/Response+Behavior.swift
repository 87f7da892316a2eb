/// Application of behaviors to a response.
extension Response {
    /// Changes the response according to one step of a behavior.
    mutating func apply(
        _ step: MisbehavingServer.Behavior.Step,
        _ request: MisbehavingServer.Request,
        _ resource: MisbehavingServer.Resource?
    ) {
        switch step {
        case .status(let status, let fields, let body): replace(status, fields, body)
        case .page(let type): replace(200, [Field("Content-Type", type)], Array(Self.page.utf8))
        case .redirect(let location, let status): redirect(to: location, status)
        case .redirectLoop: redirect(to: request.target, 302)
        case .change: break  // The resource has already been changed.
        case .wrongRange(let mistake):
            if let resource { applyRangeMistake(mistake, request: request, resource: resource) }
        case .gzip: gzip(resource)
        case .gzipBomb(let size): encode(Gzip.bomb(expandedTo: size))
        case .framing(let framing): frame(framing)
        case .informational(let status, let fields):
            prelude.append(.send(Self.head(status, fields) + [0x0D, 0x0A], .immediate))
        case .garbage(let bytes): form = .garbage(bytes)
        case .endlessHead: form = .endlessHead
        case .endlessBody: makeEndless()
        case .delay(let duration): prelude.append(.wait(duration))
        case .bodyPace(let pace): bodyPace = pace
        case .headPace(let pace): headPace = pace
        case .cut(let count, let ending): (cut, self.ending) = (count, ending)
        case .silence(let ending): (form, self.ending) = (.silence, ending)
        case .connectionClose: setConnectionClose()
        case .idle(let rule): if case .keepOpen = ending { ending = .keepOpen(rule) }
        }
    }

    private static let page = """
        <!DOCTYPE html>
        <html><head><title>Sign in</title></head>
        <body><p>Sign in to use this network.</p></body></html>

        """

    private mutating func redirect(to location: String?, _ status: Int) {
        replace(status, location.map { [Field("Location", $0)] } ?? [])
    }

    private mutating func frame(_ framing: Framing) {
        self.framing = framing
        switch framing {
        case .none: setConnectionClose()
        // No `Connection: close`: the receiver of a broken chunk cannot know where the next message begins.
        case .brokenChunk: closeAtEnd()
        case .length, .chunked: break
        }
    }

    private mutating func makeEndless() {
        isEndless = true
        if body.isEmpty { body = [0x20] }
    }

    private mutating func gzip(_ resource: MisbehavingServer.Resource?) {
        if status == 206, let resource { respondWithWhole(resource) }
        encode(Gzip.stored(body))
    }

    private mutating func encode(_ stream: [UInt8]) {
        // A 304 response has no content to encode.
        guard status != 304 else { return }
        if status == 206 || status == 416 { status = 200 }
        body = stream
        fields.set("Content-Range", nil)
        fields.set("Content-Encoding", "gzip")
        fields.set("Vary", "Accept-Encoding")
        // Another encoding is another representation and needs another entity tag (RFC 9110 §8.8.3.3).
        if let tag = fields.value(of: "ETag") { fields.set("ETag", "\(tag.dropLast())-gzip\"") }
    }

    private mutating func applyRangeMistake(
        _ mistake: MisbehavingServer.Behavior.RangeMistake,
        request: MisbehavingServer.Request,
        resource: MisbehavingServer.Resource
    ) {
        let size = resource.bytes.count
        guard let range = request.header("Range").flatMap({ RangeRequest.ranges($0, of: size)?.first }) else {
            if mistake == .unrequested, size > 0, request.header("Range") == nil {
                respond(with: 0..<size, contentRange: Self.contentRange(0..<size, of: resource), of: resource)
            }
            return
        }
        let label = Self.contentRange(range, of: resource)
        switch mistake {
        case .shifted(let distance):
            let other = Self.shifted(range, by: distance, within: size)
            respond(with: other, contentRange: Self.contentRange(other, of: resource), of: resource)
        case .wrongContentRange(let distance):
            let first = range.lowerBound.addingReportingOverflow(distance).partialValue
            let last = first.addingReportingOverflow(range.count - 1).partialValue
            respond(with: range, contentRange: "bytes \(first)-\(last)/\(size)", of: resource)
        case .wrongBytes:
            respond(with: range, contentRange: label, of: resource)
            body = body.map { ~$0 }
        case .fewer(let count):
            let fewer = range.prefix(max(1, range.count - min(max(0, count), range.count)))
            respond(with: fewer, contentRange: Self.contentRange(fewer, of: resource), of: resource)
        case .wrongTotal(let difference):
            let total = size.addingReportingOverflow(difference).partialValue
            respond(
                with: range,
                contentRange: "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total)",
                of: resource
            )
        case .withoutContentRange: respond(with: range, contentRange: nil, of: resource)
        case .multipart: respondWithMultipart([range], of: resource)
        case .ignored: respondWithWhole(resource)
        case .refused: respond(with: [], of: resource)
        case .unrequested: break
        }
    }

    /// Returns a range that is moved by a distance and clamped to the resource; it has at least one byte.
    private static func shifted(_ range: Range<Int>, by distance: Int, within size: Int) -> Range<Int> {
        let (moved, overflow) = range.lowerBound.addingReportingOverflow(distance)
        let start = overflow ? size - 1 : min(max(0, moved), size - 1)
        return start..<min(size, start + range.count)
    }
}
