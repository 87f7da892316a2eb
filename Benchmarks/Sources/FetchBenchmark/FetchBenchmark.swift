import Foundation
import MediaTransport
import NIOCore
import NIOPosix
import ResourceAddressing

/// Downloads the files in a list, eight at a time, with the transport and the disk, but without a catalog.
///
/// Each line of the list is an address, a tab and a file name.
@main
struct FetchBenchmark {
    static func main() async throws {
        guard CommandLine.arguments.count == 2 else { throw Usage() }
        let files = try String(contentsOfFile: CommandLine.arguments[1], encoding: .utf8).split(separator: "\n")
            .map { $0.split(separator: "\t").map(String.init) }
        var options = HTTPTransport.Options()
        options.readSize = 256 << 10
        let transport = HTTPTransport(options)
        let loader = ResourceLoader(transport)
        try await withTaskExecutorPreference(transport.executor) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                var rest = files[...]
                for _ in 0..<8 {
                    guard let file = rest.popFirst() else { break }
                    group.addTask { try await fetch(file[0], into: file[1], loader) }
                }
                while try await group.next() != nil {
                    guard let file = rest.popFirst() else { continue }
                    group.addTask { try await fetch(file[0], into: file[1], loader) }
                }
            }
        }
        try await transport.shutdown()
    }

    private static func fetch(_ address: String, into name: String, _ loader: ResourceLoader) async throws {
        let request = TransportRequest(ResourceAddress(address), kind: .segment)
        try await loader.send(request) { response in
            let file = try File(name)
            var pending = ByteBuffer()
            for try await var buffer in response.body {
                if pending.readableBytes == 0 { pending = buffer } else { pending.writeBuffer(&buffer) }
                guard pending.readableBytes >= 256 << 10 else { continue }
                let full = pending
                try await NIOThreadPool.singleton.runIfActive { try file.write(full) }
                pending = ByteBuffer()
            }
            let last = pending
            try await NIOThreadPool.singleton.runIfActive {
                try file.write(last)
                file.close()
            }
        }
    }

    private struct Usage: Error, CustomStringConvertible {
        var description: String { "usage: FetchBenchmark LIST" }
    }
}

/// A file that is written sequentially.
///
/// Safe: one task writes the file, and awaits each write before the next.
private final class File: @unchecked Sendable {
    private let name: String
    private var descriptor: Int32 = -1

    init(_ name: String) throws { self.name = name }

    func write(_ buffer: ByteBuffer) throws {
        if descriptor < 0 { descriptor = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644) }
        guard descriptor >= 0 else { throw POSIXError(.EIO) }
        try buffer.withUnsafeReadableBytes { bytes in
            var rest = bytes
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
                guard count > 0 else { throw POSIXError(.EIO) }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }
    }

    func close() {
        Glibc.close(descriptor)
    }
}
