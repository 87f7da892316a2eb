import Foundation
import TestSamples
import Testing

@testable import MediaDecoding

/// The streams that `Scripts/make-samples` creates.
enum SampleStreams {
    static var directory: URL? { Samples.directory }

    static var areAvailable: Bool { directory != nil }

    static func url(_ path: String) throws -> URL { try #require(directory).appendingPathComponent(path) }

    static func bytes(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: url(path))) }

    /// Returns the segments of a media playlist, each with its initialization section.
    static func segments(_ path: String) throws -> [Segment] {
        let folder = try url(path)
        let text = try String(contentsOf: folder.appendingPathComponent("media.m3u8"), encoding: .utf8)
        var list: [Segment] = []
        var map: [UInt8]?
        var range: (Int, Int)?
        var files: [String: [UInt8]] = [:]
        func load(_ name: String) throws -> [UInt8] {
            if let bytes = files[name] { return bytes }
            let bytes = [UInt8](try Data(contentsOf: folder.appendingPathComponent(name)))
            files[name] = bytes
            return bytes
        }
        func parse(_ text: Substring) -> (Int, Int)? {
            let parts = text.split(separator: "@").compactMap { Int($0) }
            return parts.count == 2 ? (parts[0], parts[1]) : nil
        }
        for line in text.split(separator: "\n") {
            if line.hasPrefix("#EXT-X-MAP:") {
                let quoted = line.split(separator: "\"")
                let name = String(try #require(quoted.dropFirst().first))
                let bytes = try load(name)
                map = bytes
                if let position = quoted.firstIndex(where: { $0.contains("BYTERANGE=") }),
                    let (length, start) = parse(quoted[position + 1])
                {
                    map = Array(bytes[start..<start + length])
                }
            } else if line.hasPrefix("#EXT-X-BYTERANGE:") {
                range = parse(line.dropFirst(17))
            } else if !line.hasPrefix("#") {
                var bytes = try load(String(line))
                if let (length, start) = range { bytes = Array(bytes[start..<start + length]) }
                range = nil
                list.append(Segment(bytes: bytes, initialization: map))
            }
        }
        return list
    }

    struct Segment {
        var bytes: [UInt8]
        var initialization: [UInt8]?
    }
}

/// Functions that run a program.
enum Tool {
    struct Failure: Error { let status: Int32 }

    @discardableResult
    static func run(_ program: String, _ arguments: [String], in folder: URL? = nil) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program.hasPrefix("/") ? program : "/usr/bin/env")
        process.arguments = program.hasPrefix("/") ? arguments : [program] + arguments
        process.currentDirectoryURL = folder
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(status: process.terminationStatus) }
        return String(decoding: data, as: UTF8.self)
    }

    static func ffmpeg(_ arguments: String, in folder: URL? = nil) throws -> String {
        let list = arguments.split(separator: " ").map { String($0) }
        return try run("ffmpeg", ["-nostdin", "-v", "error", "-y"] + list, in: folder)
    }

    /// Returns the checksums that ffmpeg prints for the video frames of an input.
    static func checksums(_ input: String, in folder: URL? = nil, options: String = "") throws -> [String] {
        let text = try ffmpeg("\(options) -i \(input) -map 0:v:0 -fps_mode passthrough -f framemd5 -", in: folder)
        return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap { line in
            line.split(separator: ",").last.map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }
}
