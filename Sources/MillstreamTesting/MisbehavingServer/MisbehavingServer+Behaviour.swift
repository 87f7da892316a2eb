extension MisbehavingServer {
    /// What the server does with one request.
    ///
    /// A list combines several: `[.delay(.seconds(1)), .truncate(after: 10)]`. They apply in the order of the list: first
    /// say what is answered (``status(_:headers:body:)``, ``gzip``, ``wrongRange(_:)``), then how it is framed
    /// (``chunked``, ``wrongLength(_:)``), how fast it comes (``throttle(bytesPerSecond:)``) and how it ends
    /// (``truncate(after:)``, ``closeIdle``). Of two that say the same thing, the later one counts.
    ///
    /// Counts are in bytes of the body, without the framing of chunks.
    public struct Behaviour: Sendable, ExpressibleByArrayLiteral {
        let steps: [Step]

        init(_ step: Step) { steps = [step] }

        /// Combines behaviours.
        public init(arrayLiteral elements: Behaviour...) { steps = elements.flatMap(\.steps) }

        /// Answers as a good server does.
        public static let proper: Behaviour = []
    }
}

/// What is answered.
extension MisbehavingServer.Behaviour {
    /// Answers with a status instead of the resource.
    ///
    /// - Parameters:
    ///   - status: The status of HTTP.
    ///   - headers: The header fields. A `Content-Length` or `Transfer-Encoding` here is sent in place of the right one.
    ///   - body: The body.
    /// - Returns: The behaviour.
    public static func status(
        _ status: Int,
        headers: KeyValuePairs<String, String> = [:],
        body: [UInt8] = []
    ) -> Self {
        Self(.status(status, .init(headers), body))
    }

    /// Answers with status 200 and a web page, as the sign-in page of a network does.
    public static let htmlPage = htmlPage(as: "text/html; charset=utf-8")

    /// Answers with status 200 and a web page that calls itself something else, such as `video/mp2t`.
    public static func htmlPage(as contentType: String) -> Self { Self(.page(contentType)) }

    /// Sends the client elsewhere.
    ///
    /// - Parameters:
    ///   - location: The value of `Location`, as it is; a relative one stands on the address of the request.
    ///   - status: The status, 302 unless told.
    /// - Returns: The behaviour.
    public static func redirect(to location: String, status: Int = 302) -> Self { Self(.redirect(location, status)) }

    /// Sends the client to the very target that it asked for.
    public static let redirectLoop = Self(.redirectLoop)

    /// Sends the client elsewhere and does not say where: `Location` is missing.
    public static let redirectWithoutLocation = Self(.redirect(nil, 302))

    /// Changes the resource before answering: every byte, `ETag` and `Last-Modified`; the length stays.
    ///
    /// The change lasts for all requests from now on. As the last behaviour of a path it changes it at each request.
    public static let changedEntity = Self(.change(nil))

    /// Puts another resource in the place of this one before answering.
    public static func changedEntity(to resource: MisbehavingServer.Resource) -> Self { Self(.change(resource)) }

    /// Gets a range wrong in one way.
    public static func wrongRange(_ mistake: RangeMistake) -> Self { Self(.wrongRange(mistake)) }

    /// Encodes the whole content with gzip, in stored blocks, whether the client accepts it or not.
    public static let gzip = Self(.gzip)

    /// Answers with a valid gzip stream of spaces that expands a thousandfold: 32 MiB come in 32 KiB.
    ///
    /// - Parameter size: How many bytes it expands to.
    /// - Returns: The behaviour.
    public static func gzipBomb(expandedTo size: Int) -> Self { Self(.gzipBomb(size)) }

    /// What can be wrong with the answer to a range; all but ``unasked`` leave requests without a range alone.
    public enum RangeMistake: Sendable, Hashable {
        /// 206 with a range so many bytes further on, and a `Content-Range` that says so.
        case shifted(by: Int)
        /// 206 with the bytes asked for, and a `Content-Range` that says so many bytes further on.
        case mislabelled(by: Int)
        /// 206 with the right `Content-Range`, and other bytes: each one inverted.
        case otherBytes
        /// 206 with so many bytes fewer than asked, and a `Content-Range` that says so.
        case fewer(by: Int)
        /// 206 with a `Content-Range` whose complete length is off by so many.
        case wrongTotal(by: Int)
        /// 206 without a `Content-Range`.
        case withoutContentRange
        /// 206 with one part of `multipart/byteranges` where one range was asked for.
        case multipart
        /// 200 with all bytes.
        case ignored
        /// 416 although the range is there.
        case refused
        /// 206 with all bytes for a request that asked for no range.
        case unasked
    }
}

/// How it is framed.
extension MisbehavingServer.Behaviour {
    /// Adds so many bytes to `Content-Length`, or takes them away; the body stays.
    ///
    /// The connection stays open: a client waits for what it was told, or finds the rest before the next answer.
    public static func wrongLength(_ difference: Int) -> Self { Self(.framing(.length(offBy: difference))) }

    /// Sends the body in chunks of 4096 bytes.
    public static let chunked = chunked(size: 4096)

    /// Sends the body in chunks of so many bytes.
    ///
    /// With ``truncate(after:)`` in the same list, the last chunk is missing.
    public static func chunked(size: Int) -> Self { Self(.framing(.chunked(size: max(1, size)))) }

    /// Sends one chunk of so many bytes, then a chunk whose size is no number, and closes.
    public static func brokenChunk(after count: Int) -> Self { Self(.framing(.brokenChunk(after: max(0, count)))) }

    /// Sends the body with neither a length nor chunks; the close of the connection ends it.
    public static let noLength = Self(.framing(.none))

    /// Sends status codes such as 100 or 103 before the answer.
    public static func informational(_ status: Int, headers: KeyValuePairs<String, String> = [:]) -> Self {
        Self(.informational(status, .init(headers)))
    }

    /// Sends something that is not HTTP, and closes.
    public static let garbage = garbage([0x16, 0x03, 0xFF, 0x00, 0x0A, 0x0D, 0x0A, 0x80, 0xFE, 0x3A, 0x20, 0x0A])

    /// Sends these bytes instead of an answer, and closes.
    public static func garbage(_ bytes: [UInt8]) -> Self { Self(.garbage(bytes)) }

    /// Begins an answer, and goes on with header fields without end.
    public static let endlessHead = Self(.endlessHead)

    /// Sends the content over and over, without a length or, after ``chunked``, in chunks.
    public static let endlessBody = Self(.endlessBody)
}

/// How fast it comes.
extension MisbehavingServer.Behaviour {
    /// Waits before the head.
    ///
    /// With ``informational(_:headers:)`` in the same list, the order of the two is kept.
    public static func delay(_ duration: Duration) -> Self { Self(.delay(duration)) }

    /// Sends the body at a steady rate, from 1 byte a second on.
    public static func throttle(bytesPerSecond: Int) -> Self {
        Self(.bodyPace(.steady(bytesPerSecond: max(1, bytesPerSecond))))
    }

    /// Sends one byte of the body every so often.
    public static func trickle(every interval: Duration) -> Self { Self(.bodyPace(.single(every: interval))) }

    /// Sends one byte of the head every so often.
    public static func slowHead(every interval: Duration) -> Self { Self(.headPace(.single(every: interval))) }
}

/// How it ends.
extension MisbehavingServer.Behaviour {
    /// Announces the whole body, sends so many bytes of it, and closes cleanly.
    public static func truncate(after count: Int) -> Self { Self(.cut(max(0, count), .close)) }

    /// Announces the whole body, sends so many bytes of it, and resets the connection.
    ///
    /// The reset waits until what was sent has arrived, at most some seconds; a client that does not read gets less.
    public static func reset(after count: Int) -> Self { Self(.cut(max(0, count), .reset)) }

    /// Announces the whole body, sends so many bytes of it, then nothing more; the connection stays open.
    public static func stall(after count: Int) -> Self { Self(.cut(max(0, count), .stall)) }

    /// Closes cleanly without a byte of an answer.
    public static let closeBeforeHead = Self(.silence(.close))

    /// Resets the connection without a byte of an answer.
    public static let resetBeforeHead = Self(.silence(.reset))

    /// Takes the request and never answers; the connection stays open.
    public static let stallBeforeHead = Self(.silence(.stall))

    /// Says `Connection: close`, and closes after the answer.
    public static let closeAfterResponse = Self(.closing)

    /// Answers properly and keeps the connection, and closes it as soon as the next request arrives on it.
    ///
    /// That request is written down as dropped, and takes no behaviour of its path.
    public static let closeIdle = Self(.idle(.closeOnNextRequest))

    /// Like ``closeIdle``, with a reset.
    public static let resetIdle = Self(.idle(.resetOnNextRequest))

    /// Answers properly and keeps the connection, and closes it when it was idle for so long.
    public static func closeIdle(after duration: Duration) -> Self { Self(.idle(.close(after: duration))) }
}

extension MisbehavingServer.Behaviour {
    /// One change of a proper answer.
    enum Step: Sendable {
        case status(Int, [MisbehavingServer.Field], [UInt8])
        case page(String)
        case redirect(String?, Int)
        case redirectLoop
        case change(MisbehavingServer.Resource?)
        case wrongRange(RangeMistake)
        case gzip
        case gzipBomb(Int)
        case framing(Answer.Framing)
        case informational(Int, [MisbehavingServer.Field])
        case garbage([UInt8])
        case endlessHead
        case endlessBody
        case delay(Duration)
        case bodyPace(Pace)
        case headPace(Pace)
        case cut(Int, Answer.Ending)
        case silence(Answer.Ending)
        case closing
        case idle(IdleRule)
    }
}
