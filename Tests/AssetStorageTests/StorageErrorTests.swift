import AssetStorage
import Testing

/// Codes go into logs and metrics, and are compared by scripts.
@Suite struct StorageErrorTests {
    @Test(
        arguments: [
            (.notFound, "not-found"), (.cannotOpen, "library-failed"), (.tooNew, "library-too-new"),
            (.busy, "asset-busy"), (.damaged, "package-damaged"), (.disk, "disk-failed"), (.full, "disk-full"),
            (.incomplete, "asset-incomplete"),
        ] as [(StorageError.Code, String)]
    )
    func aCodeHasAStableSpelling(code: StorageError.Code, spelling: String) {
        #expect(code.rawValue == spelling)
        #expect(StorageError.Code(rawValue: spelling) == code)
        let error = StorageError(code, "the disk failed")
        #expect(error.code == code)
        #expect(error.message == "the disk failed")
        #expect("\(error)" == "the disk failed")
    }
}
