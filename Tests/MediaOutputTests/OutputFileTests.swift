import Foundation
import Testing

@testable import MediaOutput

/// Tests of files that are removed when they cannot be written completely.
@Suite struct OutputFileTests {
    @Test(arguments: [false, true]) func onlyANewFileIsDiscarded(exists: Bool) throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/a"
        if exists { try Data("before".utf8).write(to: URL(fileURLWithPath: path)) }
        let file = try OutputFile(path)
        try file.write([1, 2])
        file.discard()
        #expect(FileManager.default.fileExists(atPath: path) == exists)
    }

    @Test func existingFileIsReplaced() throws {
        let folder = try TemporaryFolder()
        for content in [[1, 2, 3], [4]] as [[UInt8]] {
            let file = try OutputFile(folder.path + "/a")
            try file.write(content)
            try file.finish()
            #expect(try folder.bytes("a") == content)
        }
    }
}
