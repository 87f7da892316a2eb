/// Application of behaviors to a response.
extension Answer {
    /// Changes the response according to one step of a behavior.
    mutating func apply(
        _ step: MisbehavingServer.Behaviour.Step,
        _ request: MisbehavingServer.Request,
        _ resource: MisbehavingServer.Resource?
    ) {
        switch step {
        case .status(let status, let fields, let body): replace(status, fields, body)
        case .page(let type): replace(200, [Field("Content-Type", type)], Array(Self.page.utf8))
        case .redirect(let location, let status): redirect(to: location, status)
        case .redirectLoop: redirect(to: request.target, 302)
        case .change: break  // The resource has already been changed.
        case .wrongRange(let mistake): if let resource { mistakeRange(mistake, request, resource) }
        case .gzip: gzip(resource)
        case .gzipBomb(let size): encode(Gzip.bomb(expandedTo: size))
        case .framing(let framing): frame(framing)
        case .informational(let status, let fields):
            prelude.append(.send(Self.head(status, fields) + [0x0D, 0x0A], .atOnce))
        case .garbage(let bytes): form = .garbage(bytes)
        case .endlessHead: form = .endlessHead
        case .endlessBody: makeEndless()
        case .delay(let duration): prelude.append(.wait(duration))
        case .bodyPace(let pace): bodyPace = pace
        case .headPace(let pace): headPace = pace
        case .cut(let count, let ending): (cut, self.ending) = (count, ending)
        case .silence(let ending): (form, self.ending) = (.silence, ending)
        case .closing: sayClose()
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
        case .none: sayClose()
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
        if status == 206, let resource { answerWhole(resource) }
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

    private mutating func mistakeRange(
        _ mistake: MisbehavingServer.Behaviour.RangeMistake,
        _ request: MisbehavingServer.Request,
        _ resource: MisbehavingServer.Resource
    ) {
        let size = resource.bytes.count
        guard let range = request.header("Range").flatMap({ RangeRequest.ranges($0, of: size)?.first }) else {
            if mistake == .unasked, size > 0, request.header("Range") == nil {
                answer(0..<size, labelled: Self.label(0..<size, of: resource), resource)
            }
            return
        }
        let label = Self.label(range, of: resource)
        switch mistake {
        case .shifted(let distance):
            let other = Self.shifted(range, by: distance, within: size)
            answer(other, labelled: Self.label(other, of: resource), resource)
        case .mislabelled(let distance):
            let first = range.lowerBound.addingReportingOverflow(distance).partialValue
            let last = first.addingReportingOverflow(range.count - 1).partialValue
            answer(range, labelled: "bytes \(first)-\(last)/\(size)", resource)
        case .otherBytes:
            answer(range, labelled: label, resource)
            body = body.map { ~$0 }
        case .fewer(let count):
            let fewer = range.prefix(max(1, range.count - min(max(0, count), range.count)))
            answer(fewer, labelled: Self.label(fewer, of: resource), resource)
        case .wrongTotal(let difference):
            let total = size.addingReportingOverflow(difference).partialValue
            answer(range, labelled: "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total)", resource)
        case .withoutContentRange: answer(range, labelled: nil, resource)
        case .multipart: answerInParts([range], of: resource)
        case .ignored: answerWhole(resource)
        case .refused: answer([], of: resource)
        case .unasked: break
        }
    }

    /// Returns a range that is moved by a distance and clamped to the resource; it has at least one byte.
    private static func shifted(_ range: Range<Int>, by distance: Int, within size: Int) -> Range<Int> {
        let (moved, overflow) = range.lowerBound.addingReportingOverflow(distance)
        let start = overflow ? size - 1 : min(max(0, moved), size - 1)
        return start..<min(size, start + range.count)
    }
}
