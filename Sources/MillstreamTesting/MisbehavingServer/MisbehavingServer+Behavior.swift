extension MisbehavingServer {
    /// The behavior of the server for one request.
    ///
    /// A list combines several: `[.delay(.seconds(1)), .truncate(after: 10)]`. They are applied in the order of the
    /// list: first those that determine the response (``status(_:headers:body:)``, ``gzip``, ``wrongRange(_:)``), then
    /// its framing (``chunked``, ``wrongLength(_:)``), its speed (``throttle(bytesPerSecond:)``) and its end
    /// (``truncate(after:)``, ``closeIdle``). If two contradict each other, the later one applies.
    ///
    /// Counts are in bytes of the body, without the framing of chunks.
    public struct Behavior: Sendable, ExpressibleByArrayLiteral {
        let steps: [Step]

        init(_ step: Step) { steps = [step] }

        /// Creates a combination of behaviors.
        public init(arrayLiteral elements: Behavior...) { steps = elements.flatMap(\.steps) }

        /// A correct response.
        public static let proper: Behavior = []
    }
}

/// Behaviors that determine the response.
extension MisbehavingServer.Behavior {
    /// Responds with a status instead of the resource.
    ///
    /// - Parameters:
    ///   - status: The HTTP status code.
    ///   - headers: The header fields; `Content-Length` or `Transfer-Encoding` replaces the correct one.
    ///   - body: The body.
    /// - Returns: The behavior.
    public static func status(
        _ status: Int,
        headers: KeyValuePairs<String, String> = [:],
        body: [UInt8] = []
    ) -> Self {
        Self(.status(status, .init(headers), body))
    }

    /// Responds with status 200 and an HTML page, as a captive portal does.
    public static let htmlPage = htmlPage(as: "text/html; charset=utf-8")

    /// Responds with status 200 and an HTML page that is labeled with another type, such as `video/mp2t`.
    public static func htmlPage(as contentType: String) -> Self { Self(.page(contentType)) }

    /// Redirects the client.
    ///
    /// - Parameters:
    ///   - location: The value of `Location`, sent unchanged; it may be relative to the address of the request.
    ///   - status: The status; the default is 302.
    /// - Returns: The behavior.
    public static func redirect(to location: String, status: Int = 302) -> Self { Self(.redirect(location, status)) }

    /// Redirects the client to the address that it requested.
    public static let redirectLoop = Self(.redirectLoop)

    /// Redirects the client without a `Location` field.
    public static let redirectWithoutLocation = Self(.redirect(nil, 302))

    /// Changes the resource before the response: all bytes, `ETag` and `Last-Modified`, but not the length.
    ///
    /// The change applies to this and all later requests. As the last behavior of a path, it changes the resource at
    /// each request.
    public static let changedEntity = Self(.change(nil))

    /// Replaces the resource before the response.
    public static func changedEntity(to resource: MisbehavingServer.Resource) -> Self { Self(.change(resource)) }

    /// Responds to a range request with a mistake.
    public static func wrongRange(_ mistake: RangeMistake) -> Self { Self(.wrongRange(mistake)) }

    /// Encodes the whole content with gzip in stored blocks, even if the client does not accept it.
    public static let gzip = Self(.gzip)

    /// Responds with a valid gzip stream of spaces that is a thousandth of its expanded size: 32 KiB expand to 32 MiB.
    ///
    /// - Parameter size: The expanded size, in bytes.
    /// - Returns: The behavior.
    public static func gzipBomb(expandedTo size: Int) -> Self { Self(.gzipBomb(size)) }

    /// Mistakes in the response to a range request; all but ``unrequested`` affect only requests with a range.
    public enum RangeMistake: Sendable, Hashable {
        /// 206 with a range that is moved by this number of bytes, and the `Content-Range` of the moved range.
        case shifted(by: Int)
        /// 206 with the requested bytes, and a `Content-Range` that is moved by this number of bytes.
        case wrongContentRange(by: Int)
        /// 206 with the correct `Content-Range` and wrong bytes: each is inverted.
        case wrongBytes
        /// 206 with this number of bytes fewer than requested, and the `Content-Range` of the shorter range.
        case fewer(by: Int)
        /// 206 with a `Content-Range` whose complete length differs by this number of bytes.
        case wrongTotal(by: Int)
        /// 206 without a `Content-Range`.
        case withoutContentRange
        /// 206 with a `multipart/byteranges` body of one part for a single range.
        case multipart
        /// 200 with the whole resource.
        case ignored
        /// 416 although the range is satisfiable.
        case refused
        /// 206 with the whole resource for a request without a range.
        case unrequested
    }
}

/// Behaviors that determine the framing.
extension MisbehavingServer.Behavior {
    /// Changes `Content-Length` by the given number of bytes, but not the body.
    ///
    /// The connection stays open: the client waits for missing bytes, or finds excess bytes before the next response.
    public static func wrongLength(_ difference: Int) -> Self { Self(.framing(.length(offBy: difference))) }

    /// Sends the body in chunks of 4,096 bytes.
    public static let chunked = chunked(size: 4096)

    /// Sends the body in chunks of the given number of bytes.
    ///
    /// With ``truncate(after:)`` in the same list, the last chunk is missing.
    public static func chunked(size: Int) -> Self { Self(.framing(.chunked(size: max(1, size)))) }

    /// Sends a chunk of the given number of bytes, then a chunk with an invalid size, and closes the connection.
    public static func brokenChunk(after count: Int) -> Self { Self(.framing(.brokenChunk(after: max(0, count)))) }

    /// Sends the body with neither a length nor chunks; the end of the connection ends the body.
    public static let noLength = Self(.framing(.none))

    /// Sends an informational response, such as 100 or 103, before the response.
    public static func informational(_ status: Int, headers: KeyValuePairs<String, String> = [:]) -> Self {
        Self(.informational(status, .init(headers)))
    }

    /// Sends bytes that are not HTTP, and closes the connection.
    public static let garbage = garbage([0x16, 0x03, 0xFF, 0x00, 0x0A, 0x0D, 0x0A, 0x80, 0xFE, 0x3A, 0x20, 0x0A])

    /// Sends the given bytes instead of a response, and closes the connection.
    public static func garbage(_ bytes: [UInt8]) -> Self { Self(.garbage(bytes)) }

    /// Begins a response and sends header fields without end.
    public static let endlessHead = Self(.endlessHead)

    /// Sends the content repeatedly, without a length or, after ``chunked``, in chunks.
    public static let endlessBody = Self(.endlessBody)
}

/// Behaviors that determine the speed.
extension MisbehavingServer.Behavior {
    /// Waits before the head of the response.
    ///
    /// With ``informational(_:headers:)`` in the same list, the order of the two is preserved.
    public static func delay(_ duration: Duration) -> Self { Self(.delay(duration)) }

    /// Sends the body at a constant rate of at least 1 byte per second.
    public static func throttle(bytesPerSecond: Int) -> Self {
        Self(.bodyPace(.steady(bytesPerSecond: max(1, bytesPerSecond))))
    }

    /// Sends one byte of the body per interval.
    public static func trickle(every interval: Duration) -> Self { Self(.bodyPace(.single(every: interval))) }

    /// Sends one byte of the head per interval.
    public static func slowHead(every interval: Duration) -> Self { Self(.headPace(.single(every: interval))) }
}

/// Behaviors that determine the end.
extension MisbehavingServer.Behavior {
    /// Announces the whole body, sends the given number of bytes of it, and closes the connection.
    public static func truncate(after count: Int) -> Self { Self(.cut(max(0, count), .close)) }

    /// Announces the whole body, sends the given number of bytes of it, and resets the connection.
    ///
    /// The reset waits up to some seconds until the sent bytes have arrived; a client that does not read receives
    /// fewer.
    public static func reset(after count: Int) -> Self { Self(.cut(max(0, count), .reset)) }

    /// Announces the whole body, sends the given number of bytes of it, and stops; the connection stays open.
    public static func stall(after count: Int) -> Self { Self(.cut(max(0, count), .stall)) }

    /// Closes the connection without sending a response.
    public static let closeBeforeHead = Self(.silence(.close))

    /// Resets the connection without sending a response.
    public static let resetBeforeHead = Self(.silence(.reset))

    /// Accepts the request and never responds; the connection stays open.
    public static let stallBeforeHead = Self(.silence(.stall))

    /// Sends `Connection: close`, and closes the connection after the response.
    public static let closeAfterResponse = Self(.connectionClose)

    /// Responds correctly and keeps the connection open, then closes it as soon as the next request arrives on it.
    ///
    /// That request is recorded as dropped, and does not consume a behavior of its path.
    public static let closeIdle = Self(.idle(.closeOnNextRequest))

    /// Behaves as ``closeIdle``, but resets the connection.
    public static let resetIdle = Self(.idle(.resetOnNextRequest))

    /// Responds correctly and keeps the connection open, then closes it after it has been idle for the given duration.
    public static func closeIdle(after duration: Duration) -> Self { Self(.idle(.close(after: duration))) }
}

extension MisbehavingServer.Behavior {
    /// A single change of a correct response.
    enum Step: Sendable {
        case status(Int, [MisbehavingServer.Field], [UInt8])
        case page(String)
        case redirect(String?, Int)
        case redirectLoop
        case change(MisbehavingServer.Resource?)
        case wrongRange(RangeMistake)
        case gzip
        case gzipBomb(Int)
        case framing(Response.Framing)
        case informational(Int, [MisbehavingServer.Field])
        case garbage([UInt8])
        case endlessHead
        case endlessBody
        case delay(Duration)
        case bodyPace(Pace)
        case headPace(Pace)
        case cut(Int, Response.Ending)
        case silence(Response.Ending)
        case connectionClose
        case idle(IdleRule)
    }
}
