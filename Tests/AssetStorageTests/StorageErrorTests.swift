import AssetStorage
import Foundation
import Testing

/// Tests the error codes, which appear in logs and metrics, and which scripts compare.
@Suite struct StorageErrorTests {
    @Test(
        arguments: [
            (.notFound, "not-found"), (.cannotOpen, "library-failed"), (.tooNew, "library-too-new"),
            (.busy, "asset-busy"), (.damaged, "package-damaged"), (.disk, "disk-failed"), (.full, "disk-full"),
            (.incomplete, "asset-incomplete"), (.moved, "package-moved"), (.nothingLeft, "nothing-left"),
        ] as [(StorageError.Code, String)]
    )
    func errorCodesHaveStableRawValues(code: StorageError.Code, spelling: String) {
        #expect(code.rawValue == spelling)
        #expect(StorageError.Code(rawValue: spelling) == code)
        let error = StorageError(code, "the disk failed")
        #expect(error.code == code)
        #expect(error.message == "the disk failed")
        #expect("\(error)" == "the disk failed")
    }

    /// Applications compare the numbers with those of AVFoundation.
    @Test func errorsHaveTheNumbersOfAVFoundation() {
        let numbers: [StorageError.Code: Int] = [
            .notFound: -11_867, .damaged: -11_867, .moved: -11_867, .full: -11_807, .incomplete: -11_863,
        ]
        for code in StorageError.Code.allCases { #expect(code.number == numbers[code], "\(code)") }
    }

    @Test(
        arguments: [
            (CocoaError(.fileWriteOutOfSpace), .full, "No space left on device"),
            (CocoaError(.fileWriteNoPermission), .disk, "Permission denied"),
        ] as [(CocoaError, StorageError.Code, String)]
    )
    func fileThatCannotBeWrittenHasTheReason(cause: CocoaError, code: StorageError.Code, reason: String) {
        let error = StorageError(writing: "/film", cause)
        #expect(error.code == code)
        #expect(error.message == "/film cannot be written (\(reason))")
        #expect((error.cause as? CocoaError)?.code == cause.code)
    }
}
