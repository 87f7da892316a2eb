import Foundation
import MediaTiming
import MediaTransport

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A failure to write to standard output, standard error or a file.
struct OutputError: Error, Equatable {
    /// The name of the output, for messages.
    let output: String
    /// The error number of the system call.
    let number: Int32

    /// A Boolean value that indicates whether the reader of a pipe has closed it.
    var isClosed: Bool { number == EPIPE }

    /// The description of the error number, such as "No space left on device".
    var reason: String { String(cString: strerror(number)) }
}

/// A file descriptor to which bytes are written completely.
///
/// Writing blocks until all bytes are accepted, regardless of the speed of the reader and of non-blocking mode; nothing
/// is buffered here. Only an interruption (Ctrl-C) ends the wait for a reader.
struct OutputDescriptor: Sendable {
    let rawValue: Int32
    /// The name of the output, for messages.
    let name: String

    /// The number of bytes in a single write; a pipe that is ready accepts this many without blocking (`PIPE_BUF` on
    /// Linux).
    private static let chunkSize = 4096
    /// The interval at which a blocked write checks for an interruption, in milliseconds.
    private static let pollInterval: Int32 = 100

    /// Creates an output for a file, which is opened for writing.
    ///
    /// A regular file is truncated or created, with access for its owner only. Pipes and devices are not changed before
    /// they are written to.
    ///
    /// - Throws: ``OutputError``.
    init(creating path: String) throws(OutputError) {
        do {
            self.init(rawValue: try PrivateFiles.openReport(path), name: "the file \(path)")
        } catch {
            throw OutputError(output: "the file \(path)", number: (error as? POSIXError)?.code.rawValue ?? EIO)
        }
    }

    /// Creates an output for a pipe, a device or another existing file, without changing its contents.
    ///
    /// - Parameter path: The path of the file; bytes are appended to a regular file.
    /// - Throws: ``OutputError``.
    init(opening path: String) throws(OutputError) {
        let descriptor = open(path, O_WRONLY | O_CLOEXEC | O_APPEND)
        guard descriptor >= 0 else { throw OutputError(output: "the file \(path)", number: errno) }
        self.init(rawValue: descriptor, name: "the file \(path)")
    }

    /// Creates an output for a descriptor that the program inherited, at its current position.
    ///
    /// The caller must not close it.
    ///
    /// - Parameter number: The number of the descriptor.
    /// - Throws: ``OutputError`` if it is not open, or was opened by the program itself.
    init(inherited number: Int32) throws(OutputError) {
        let flags = fcntl(number, F_GETFD)
        guard flags >= 0, flags & FD_CLOEXEC == 0 else {
            throw OutputError(output: "the descriptor \(number)", number: EBADF)
        }
        self.init(rawValue: number, name: "the descriptor \(number)")
    }

    init(rawValue: Int32, name: String) {
        self.rawValue = rawValue
        self.name = name
    }

    /// Writes all bytes.
    ///
    /// - Throws: ``OutputError``, or `CancellationError` if the program was interrupted while the write was blocked.
    func write(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            try waitUntilWritable()
            let count = rest.prefix(Self.chunkSize).withUnsafeBytes { systemWrite(rawValue, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno != EINTR, errno != EAGAIN {
                throw OutputError(output: name, number: errno)
            }
        }
    }

    /// Waits until the descriptor is writable or has an error, which the next write reports.
    private func waitUntilWritable() throws(CancellationError) {
        var request = pollfd(fd: rawValue, events: Int16(clamping: POLLOUT), revents: 0)
        while poll(&request, 1, Self.pollInterval) <= 0 {
            if OutputSupervisor.shared.isInterrupted { throw CancellationError() }
        }
    }

    /// Closes the descriptor.
    func close() { _ = systemClose(rawValue) }

    /// Opens `/dev/null` in place of each standard descriptor that was closed when the program was started.
    ///
    /// Otherwise the next file or socket would get its number, and output would be written into it. Each is opened in
    /// the opposite direction, so that reading and writing still fail with `EBADF`.
    static func reserveStandardDescriptors() {
        for descriptor in [STDIN_FILENO, standardOutput, standardError] where fcntl(descriptor, F_GETFD) == -1 {
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// Writes the message of an interrupted program; called by a signal handler, in which only system calls are
    /// permitted.
    static func writeInterruption() {
        let line = "millstream: error: interrupted (interrupted)\n" as StaticString
        var request = pollfd(fd: standardError, events: Int16(clamping: POLLOUT), revents: 0)
        guard poll(&request, 1, 0) > 0 else { return }
        _ = systemWrite(standardError, line.utf8Start, line.utf8CodeUnitCount)
    }
}

// The module hides these system functions (see UnavailableOutput.swift); this is the only file that uses them.
#if canImport(Darwin)
private let systemWrite = Darwin.write
private let systemClose = Darwin.close
private let standardOutput = Darwin.STDOUT_FILENO
private let standardError = Darwin.STDERR_FILENO
#elseif canImport(Musl)
private let systemWrite = Musl.write
private let systemClose = Musl.close
private let standardOutput = Musl.STDOUT_FILENO
private let standardError = Musl.STDERR_FILENO
#else
private let systemWrite = Glibc.write
private let systemClose = Glibc.close
private let standardOutput = Glibc.STDOUT_FILENO
private let standardError = Glibc.STDERR_FILENO
#endif

extension OutputDescriptor {
    /// The descriptor for results.
    static let results = OutputDescriptor(rawValue: standardOutput, name: "standard output")
    /// The descriptor for progress, logs and diagnostics.
    static let diagnostics = OutputDescriptor(rawValue: standardError, name: "standard error")
}
