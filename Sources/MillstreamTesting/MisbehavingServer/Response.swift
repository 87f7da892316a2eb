/// A response before it is sent: a correct one, or one that behaviors have changed.
struct Response {
    /// The ways in which the end of the body is indicated.
    enum Framing: Sendable {
        case length(offBy: Int)
        case chunked(size: Int)
        case brokenChunk(after: Int)
        case none
    }

    /// The ways in which the connection continues or ends after the response.
    enum Ending: Sendable {
        case keepOpen(IdleRule)
        case close
        case reset
        case stall
    }

    /// The kinds of data that are sent: a response, or something else in its place.
    enum Form {
        case response
        case silence
        case garbage([UInt8])
        case endlessHead
    }

    typealias Field = MisbehavingServer.Field

    var form = Form.response
    /// The actions before the head: delays and informational responses.
    var prelude: [WireAction] = []
    var status: Int
    var fields: [Field]
    var body: [UInt8]
    var isEndless = false
    var framing = Framing.length(offBy: 0)
    var headPace = Pace.immediate
    var bodyPace = Pace.immediate
    /// The number of bytes of the body after which the ending occurs; `nil` for all.
    var cut: Int?
    var ending = Ending.keepOpen(.stay)
    private let isResponseToHEAD: Bool

    /// Creates the response to a request, before any behavior is applied.
    init(to request: MisbehavingServer.Request, for resource: MisbehavingServer.Resource?) {
        isResponseToHEAD = request.method == "HEAD"
        (status, fields, body) = (404, [Field("Content-Type", "text/plain")], Array("Nothing is served here.\n".utf8))
        if let resource { respond(to: request, with: resource) }
        if request.fields.lists("close", in: "Connection") || request.version == "HTTP/1.0" { setConnectionClose() }
    }

    /// Creates the response to a malformed request; it closes the connection.
    init(refusal status: Int) {
        self.status = status
        (fields, body, isResponseToHEAD) = ([], [], false)
        setConnectionClose()
    }

    /// Replaces status, header fields and body, but preserves the `Connection` field.
    mutating func replace(_ status: Int, _ fields: [Field], _ body: [UInt8] = []) {
        let connection = self.fields.filter { $0.name == "Connection" }
        (self.status, self.fields, self.body) = (status, fields + connection, body)
    }

    /// Adds `Connection: close` and closes the connection after the response, unless another ending is set.
    mutating func setConnectionClose() {
        fields.set("Connection", "close")
        closeAtEnd()
    }

    /// Closes the connection after the response, unless another ending is set.
    mutating func closeAtEnd() {
        if case .keepOpen = ending { ending = .close }
    }

    /// A Boolean value that indicates whether the bytes of a body follow the head (RFC 9112 §6.3).
    private var hasBody: Bool { !isResponseToHEAD && !isBodiless }
    private var isBodiless: Bool { status == 304 || status == 204 || status < 200 }
}

/// The serialization of the response.
extension Response {
    /// The actions that send the response and end or continue the connection.
    var actions: [WireAction] {
        switch form {
        case .silence: prelude + [endingAction]
        case .garbage(let bytes): prelude + [.send(bytes, bodyPace), .close]
        case .endlessHead:
            prelude + [.send(head, headPace), .sendForever(Array("X-More: and there is more\r\n".utf8), headPace)]
        case .response: prelude + [.send(head + [0x0D, 0x0A], headPace)] + bodyActions + [endingAction]
        }
    }

    /// The status line and the header fields, without the empty line.
    private var head: [UInt8] {
        Self.head(status, fields + (isBodiless ? [] : framingFields))
    }

    static func head(_ status: Int, _ fields: [Field]) -> [UInt8] {
        let lines = ["HTTP/1.1 \(status) \(reasons[status] ?? "Status")"] + fields.map { "\($0.name): \($0.value)" }
        return Array(lines.map { $0 + "\r\n" }.joined().utf8)
    }

    private var framingFields: [Field] {
        // A behavior that sets these fields intends to send wrong values.
        guard fields.value(of: "Content-Length") == nil, fields.value(of: "Transfer-Encoding") == nil else { return [] }
        switch framing {
        case .length(let difference): return isEndless ? [] : [lengthField(difference)]
        case .chunked, .brokenChunk: return [Field("Transfer-Encoding", "chunked")]
        case .none: return []
        }
    }

    private func lengthField(_ difference: Int) -> Field {
        let (length, overflow) = body.count.addingReportingOverflow(difference)
        return Field("Content-Length", String(overflow ? Int.max : max(0, length)))
    }

    private var bodyActions: [WireAction] {
        guard hasBody else { return [] }
        if isEndless, cut == nil {
            return [.sendForever(chunks(body, withEnd: false), bodyPace)]
        }
        var content = body
        if isEndless { while content.count < cut ?? 0 { content += body } }
        content = Array(content.prefix(cut ?? content.count))
        let framed = chunks(content, withEnd: cut == nil)
        return framed.isEmpty ? [] : [.send(framed, bodyPace)]
    }

    private var endingAction: WireAction {
        switch ending {
        case .keepOpen(let rule): .keepOpen(rule)
        case .close: .close
        case .reset: .reset
        case .stall: .stall
        }
    }

    /// Returns the content, encoded in chunks if the framing requires it (RFC 9112 §7.1).
    private func chunks(_ content: [UInt8], withEnd: Bool) -> [UInt8] {
        switch framing {
        case .length, .none: return content
        case .chunked(let size):
            var framed: [UInt8] = []
            for start in stride(from: 0, to: content.count, by: size) {
                framed += Self.chunk(content[start...].prefix(size))
            }
            return withEnd ? framed + Array("0\r\n\r\n".utf8) : framed
        case .brokenChunk(let count):
            let whole = content.prefix(count)
            return (whole.isEmpty ? [] : Self.chunk(whole)) + Array("no size\r\n".utf8) + content.dropFirst(count)
        }
    }

    private static func chunk(_ content: some Collection<UInt8>) -> [UInt8] {
        Array("\(String(content.count, radix: 16))\r\n".utf8) + content + [0x0D, 0x0A]
    }

    private static let reasons = [
        100: "Continue", 102: "Processing", 103: "Early Hints", 200: "OK", 204: "No Content", 206: "Partial Content",
        301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified", 307: "Temporary Redirect",
        308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 408: "Request Timeout", 410: "Gone", 411: "Length Required",
        412: "Precondition Failed", 413: "Content Too Large", 416: "Range Not Satisfiable", 429: "Too Many Requests",
        431: "Request Header Fields Too Large", 500: "Internal Server Error", 502: "Bad Gateway",
        503: "Service Unavailable", 504: "Gateway Timeout",
    ]
}
